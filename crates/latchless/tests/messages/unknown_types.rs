//! The types of an empty index are named.

fn main() -> latchless::Result<()> {
    let index = latchless::Index::new()?;
    index.insert(7u64, 70u32)?;
    Ok(())
}
