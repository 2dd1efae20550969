//! The permissions of a file that replaces another, and files that are not replaced. For any user.

use super::{Folder, squares};
use latchless::Index;
use latchless::bytes::MultiIndex;
use latchless::snapshot::{self, Error, multi, strings};
use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

/// Returns indexes of the other two kinds.
fn others() -> (Index<String, u64>, MultiIndex<String>) {
    let words = Index::new().unwrap();
    words.insert("tea", 7).unwrap();
    let cities = MultiIndex::new().unwrap();
    cities.insert("Ulm", 1).unwrap();
    (words, cities)
}

fn saves_all_kinds(path: &Path) {
    let (words, cities) = others();
    snapshot::save(squares(10), path).unwrap();
    strings::save(&words, path).unwrap();
    multi::save(&cities, path).unwrap();
}

#[test]
fn a_new_file_has_the_permissions_of_the_one_that_it_replaces() {
    let folder = Folder::new("permissions");
    let path = folder.file("index.arrow");
    for kept in [0o600, 0o640, 0o444, 0o666, 0o755, 0o604] {
        fs::write(&path, "before").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(kept)).unwrap();
        let before = fs::metadata(&path).unwrap();
        saves_all_kinds(&path);
        let after = fs::metadata(&path).unwrap();
        assert_eq!(mode(&path), kept, "{kept:o}");
        assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
        assert_ne!(after.ino(), before.ino(), "it is another file");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_file_that_replaces_none_has_the_permissions_of_any_new_one() {
    let folder = Folder::new("new-permissions");
    fs::write(folder.file("other"), "").unwrap();
    saves_all_kinds(&folder.file("index.arrow"));
    assert_eq!(mode(&folder.file("index.arrow")), mode(&folder.file("other")));
}

#[test]
fn while_it_is_written_only_the_owner_may_open_the_new_one() {
    let folder = Folder::new("private");
    let path = folder.file("index.arrow");
    fs::write(&path, "before").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let seen = std::sync::Mutex::new(Vec::new());
    let layout = snapshot::Layout::new(snapshot::DataType::UInt64, snapshot::DataType::UInt32);
    let cells = |key, value: u32| {
        let beside = folder.names().into_iter().find(|name| name.contains(".tmp-")).unwrap();
        seen.lock().unwrap().push(mode(&folder.file(&beside)));
        (key, value.into())
    };
    layout.save(squares(2), &path, cells).unwrap();
    let seen = seen.into_inner().unwrap();
    assert!(!seen.is_empty() && seen.iter().all(|&mode| mode == 0o600), "{seen:?}");
    assert_eq!(mode(&path), 0o644);
}

#[test]
fn where_a_link_leads_is_replaced_and_the_link_stays() {
    let folder = Folder::new("links");
    let far = folder.file("far");
    fs::create_dir(&far).unwrap();
    let file = far.join("index.arrow");
    fs::write(&file, "before").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    symlink("far/index.arrow", folder.file("relative")).unwrap();
    symlink(folder.file("relative"), folder.file("absolute")).unwrap();
    symlink("far", folder.file("near")).unwrap();
    symlink("far/new.arrow", folder.file("dangling")).unwrap();
    symlink("circle", folder.file("circle")).unwrap();

    for (link, to, len) in [
        ("relative", "far/index.arrow", 10),
        ("absolute", "far/index.arrow", 20),
        ("near/index.arrow", "far/index.arrow", 30),
        ("dangling", "far/new.arrow", 40),
    ] {
        snapshot::save(squares(len), folder.file(link)).unwrap();
        let there: Index<u64, u32> = snapshot::open(folder.file(to)).unwrap();
        assert_eq!(there.len() as u64, len, "{link}");
    }
    assert_eq!(mode(&file), 0o600);
    let refused = snapshot::save(squares(3), folder.file("circle")).unwrap_err();
    assert!(matches!(&refused, Error::Io { path: Some(_), .. }), "{refused}");

    assert_eq!(folder.names(), ["absolute", "circle", "dangling", "far", "near", "relative"]);
    for link in ["absolute", "circle", "dangling", "near", "relative"] {
        assert!(fs::symlink_metadata(folder.file(link)).unwrap().is_symlink(), "{link}");
    }
    assert_eq!(fs::read_dir(far).unwrap().count(), 2, "nothing is left beside");
}

#[test]
fn what_is_no_file_is_refused_and_stays() {
    let folder = Folder::new("no-files");
    let [fifo, socket, sub] = ["fifo", "socket", "folder"].map(|name| folder.file(name));
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let _listener = UnixListener::bind(&socket).unwrap();
    fs::create_dir(&sub).unwrap();
    symlink("fifo", folder.file("link")).unwrap();
    let (words, cities) = others();
    for (name, what, asked) in [
        ("fifo", "a FIFO", &fifo),
        ("link", "a FIFO", &fifo),
        ("socket", "a socket", &socket),
        ("folder", "a folder", &sub),
    ] {
        let path = folder.file(name);
        for refused in [
            snapshot::save(squares(10), &path).unwrap_err(),
            strings::save(&words, &path).unwrap_err(),
            multi::save(&cities, &path).unwrap_err(),
        ] {
            let Error::NotAFile { path, kind } = &refused else { panic!("{refused}") };
            assert_eq!((path, *kind), (asked, what));
            assert!(
                refused.to_string().contains(what) && refused.to_string().contains(asked.to_str().unwrap())
            );
        }
    }
    assert!(fs::metadata(&fifo).unwrap().file_type().is_fifo());
    assert!(fs::metadata(&socket).unwrap().file_type().is_socket());
    assert_eq!(folder.names(), ["fifo", "folder", "link", "socket"]);
}
