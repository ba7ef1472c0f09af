// What both JavaScript drivers share: the expected texts, and a bounded run of named checks with a count at the end.

export const DONE = "done";
export const CHUNKS = "Hello, world <b>&é漢字\nend";
const TIMEOUT_MS = 10_000;
const BINDINGS = ["JSONRPC", "HTTP+JSON", "GRPC"];

/** Fails the check that is running unless both are equal. */
export function expect(what, got, wanted) {
  if (got !== wanted) {
    throw new Error(`${what}: ${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}`);
  }
}

/** The promise, or an error when it takes too long. */
async function within(milliseconds, promise) {
  let timer;
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Connects over a binding and runs the checks that come of it, each with its own time-out. How many failed. */
async function run(connect, base, binding) {
  let checks;
  let failed = 0;
  console.log(`-- ${binding}`);
  try {
    checks = await within(TIMEOUT_MS, connect(base, binding));
  } catch (error) {
    checks = { connect: () => Promise.reject(error) };
  }
  for (const [name, check] of Object.entries(checks)) {
    try {
      await within(TIMEOUT_MS, check());
      console.log(`PASS ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${name}: ${error}`);
      console.error(error);
    }
  }
  console.log(`${Object.keys(checks).length - failed} passed, ${failed} failed`);
  return failed;
}

/**
 * Runs a driver against the base URL of the command line, over one binding after the other, and ends the process.
 * The driver connects and gives its checks.
 */
export async function main(connect) {
  const [base] = process.argv.slice(2);
  if (!base) {
    console.error(`usage: ${process.argv[1]} BASE_URL`);
    process.exit(2);
  }
  let failed = 0;
  for (const binding of BINDINGS) {
    failed += await run(connect, base.replace(/\/+$/, ""), binding);
  }
  process.exit(failed === 0 ? 0 : 1);
}
