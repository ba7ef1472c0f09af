//! The generated code is what the `.proto` files say. With `REGENERATE=1` in the environment it is written anew:
//!
//! ```text
//! REGENERATE=1 cargo test --test generated
//! ```
//!
//! It is a test of its own, without the feature `grpc`, so that it can be run when the code is out of date.

use std::{env, fs, path::Path};

use protox::prost::Message as _;

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/grpc");

/// Messages and enums of 0.3 that are the same on the wire in 1.0. They share a type, and so what reads and writes it.
const ALIKE: [(&str, &str); 19] = [
    ("APIKeySecurityScheme", "ApiKeySecurityScheme"),
    ("AgentCardSignature", "AgentCardSignature"),
    ("AgentExtension", "AgentExtension"),
    ("AgentProvider", "AgentProvider"),
    ("AgentSkill", "AgentSkill"),
    ("AuthorizationCodeOAuthFlow", "AuthorizationCodeOAuthFlow"),
    ("ClientCredentialsOAuthFlow", "ClientCredentialsOAuthFlow"),
    ("HTTPAuthSecurityScheme", "HttpAuthSecurityScheme"),
    ("ImplicitOAuthFlow", "ImplicitOAuthFlow"),
    ("MutualTlsSecurityScheme", "MutualTlsSecurityScheme"),
    ("OAuth2SecurityScheme", "OAuth2SecurityScheme"),
    ("OAuthFlows", "OAuthFlows"),
    ("OpenIdConnectSecurityScheme", "OpenIdConnectSecurityScheme"),
    ("PasswordOAuthFlow", "PasswordOAuthFlow"),
    ("Role", "Role"),
    ("Security", "SecurityRequirement"),
    ("SecurityScheme", "SecurityScheme"),
    ("StringList", "StringList"),
    ("TaskState", "TaskState"),
];

#[test]
fn generated_code_is_up_to_date() {
    let protos = Path::new(DIRECTORY).join("proto");
    let mut descriptors = protox::compile(["lf/a2a/v1/a2a.proto", "a2a/v1/a2a.proto"], [&protos]).unwrap();
    let fresh = temporary_directory();
    let builder = tonic_prost_build::configure().build_server(false).build_transport(false).bytes(".").btree_map(".");
    let builder = ["Struct", "Value"].iter().fold(builder, |builder, name| {
        builder.extern_path(format!(".google.protobuf.{name}"), format!("crate::grpc::proto::{name}"))
    });
    let builder = ALIKE.iter().fold(builder, |builder, (old, new)| {
        builder.extern_path(format!(".a2a.v1.{old}"), format!("crate::grpc::proto::v1_0::{new}"))
    });
    builder.out_dir(&fresh).compile_fds(descriptors.clone()).unwrap();
    // Who asks for them by reflection has no use for comments.
    descriptors.file.iter_mut().for_each(|file| file.source_code_info = None);
    fs::write(fresh.join("descriptors.bin"), descriptors.encode_to_vec()).unwrap();
    let kept = Path::new(DIRECTORY).join("generated");
    for name in ["lf.a2a.v1.rs", "a2a.v1.rs", "descriptors.bin"] {
        let made = fs::read(fresh.join(name)).unwrap();
        if env::var_os("REGENERATE").is_some() {
            fs::write(kept.join(name), &made).unwrap();
        }
        assert!(fs::read(kept.join(name)).ok() == Some(made), "{name} is not what the .proto files say");
    }
    fs::remove_dir_all(fresh).unwrap();
}

fn temporary_directory() -> std::path::PathBuf {
    let directory = env::temp_dir().join(format!("a2a-layers-generated-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    directory
}
