// What both JavaScript drivers share: the expected texts, and a bounded run of named checks with a count at the end.

export const DONE = "done";
export const CHUNKS = "Hello, world <b>&é漢字\nend";
const TIMEOUT_MS = 10_000;

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

/**
 * Runs a driver against the base URL of the command line, and ends the process.
 * The driver connects and gives its checks; each has its own time-out.
 */
export async function main(connect) {
  const [base] = process.argv.slice(2);
  if (!base) {
    console.error(`usage: ${process.argv[1]} BASE_URL`);
    process.exit(2);
  }
  let checks;
  let failed = 0;
  try {
    checks = await within(TIMEOUT_MS, connect(base.replace(/\/+$/, "")));
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
  process.exit(failed === 0 ? 0 : 1);
}
