use prost::Message;

/// Generates the client from the descriptor set of the service, so that protoc is not needed.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=descriptors.binpb");
    let bytes = std::fs::read("descriptors.binpb")?;
    let descriptors = prost_types::FileDescriptorSet::decode(bytes.as_slice())?;
    tonic_prost_build::configure().build_server(false).compile_fds(descriptors)?;
    Ok(())
}
