//! A real server with the module: commands, errors, snapshots, the log of commands, and readers concurrent
//! with writers.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A reply of the server's.
#[derive(Debug, Clone, PartialEq)]
enum Reply {
    Null,
    Integer(i64),
    Text(String),
    Error(String),
    List(Vec<Reply>),
}

fn text(text: &str) -> Reply {
    Reply::Text(text.to_owned())
}

fn texts(texts: &[&str]) -> Reply {
    Reply::List(texts.iter().map(|one| text(one)).collect())
}

struct Client(BufReader<UnixStream>);

impl Client {
    fn ask(&mut self, words: &[&str]) -> Reply {
        let mut request = format!("*{}\r\n", words.len());
        words.iter().for_each(|word| request += &format!("${}\r\n{word}\r\n", word.len()));
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
        self.reply()
    }

    /// A command without blanks in its words.
    fn say(&mut self, command: &str) -> Reply {
        self.ask(&command.split(' ').collect::<Vec<_>>())
    }

    fn reply(&mut self) -> Reply {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        let (kind, rest) = line.trim_end().split_at_checked(1).expect("the server has gone");
        let number = || rest.parse::<i64>().unwrap();
        match kind {
            "+" => text(rest),
            "-" => Reply::Error(rest.to_owned()),
            ":" => Reply::Integer(number()),
            "$" | "*" if number() < 0 => Reply::Null,
            "*" => Reply::List((0..number()).map(|_| self.reply()).collect()),
            "$" => {
                let mut bytes = vec![0; number() as usize + 2];
                self.0.read_exact(&mut bytes).unwrap();
                bytes.truncate(bytes.len() - 2);
                Reply::Text(String::from_utf8(bytes).unwrap())
            }
            other => panic!("no reply begins with {other}"),
        }
    }
}

/// A server with the module, which keeps its files in a folder.
struct Server {
    process: Child,
    socket: PathBuf,
}

impl Server {
    fn start(folder: &Path, more: &[&str]) -> Self {
        let socket = folder.join("socket");
        // Cargo builds the module into the parent folder of the tests.
        let module = std::env::current_exe().unwrap().with_file_name("liblatchless_redis.so");
        assert!(module.exists(), "{} isn't built", module.display());
        let process = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--unixsocket"])
            .arg(&socket)
            .arg("--dir")
            .arg(folder)
            .arg("--loadmodule")
            .arg(module)
            .args(more)
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server is installed");
        Self { process, socket }
    }

    fn connect(&self) -> Client {
        let begun = Instant::now();
        loop {
            if let Ok(stream) = UnixStream::connect(&self.socket) {
                let mut client = Client(BufReader::new(stream));
                if client.say("PING") == text("PONG") {
                    return client;
                }
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "the server doesn't answer");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended is fine.
        let _ended = self.process.kill();
        let _status = self.process.wait();
        let _gone = std::fs::remove_file(&self.socket);
    }
}

fn with_server(test: impl FnOnce(&Server, &mut Client)) {
    let folder = TempDir::new().unwrap();
    let server = Server::start(folder.path(), &[]);
    let mut client = server.connect();
    test(&server, &mut client);
}

#[test]
fn fields_come_and_go() {
    with_server(|_, client| {
        assert_eq!(client.say("LL.SET m b 2 a 1 c 3"), Reply::Integer(3));
        assert_eq!(client.say("LL.SET m b two d 4"), Reply::Integer(1));
        assert_eq!(client.say("LL.GET m b"), text("two"));
        assert_eq!(client.say("LL.GET m x"), Reply::Null);
        assert_eq!(client.say("LL.GET nothing x"), Reply::Null);
        assert_eq!(client.ask(&["LL.SET", "m", "", "the empty field"]), Reply::Integer(1));
        assert_eq!(client.ask(&["LL.GET", "m", ""]), text("the empty field"));
        assert_eq!(client.say("LL.LEN m"), Reply::Integer(5));
        assert_eq!(client.say("TYPE m"), text("latchless"));
        let Reply::Integer(bytes) = client.say("MEMORY USAGE m") else { panic!("MEMORY USAGE is a number") };
        assert!(bytes > 1000, "{bytes}");
        assert_eq!(client.say("LL.DEL m a b x"), Reply::Integer(2));
        assert_eq!(client.say("COPY m n"), Reply::Integer(1));
        assert_eq!(client.say("LL.DELRANGE m - +"), Reply::Integer(3));
        assert_eq!(client.say("EXISTS m"), Reply::Integer(0), "a key without fields goes");
        assert_eq!(client.say("LL.LEN n"), Reply::Integer(3));
        assert_eq!(client.say("UNLINK n"), Reply::Integer(1));
    });
}

#[test]
fn ranges_are_in_order() {
    with_server(|_, client| {
        client.say("LL.SET m a 1 ab 2 abc 3 b 4 bc 5");
        assert_eq!(client.say("LL.RANGE m [ab (b"), texts(&["ab", "2", "abc", "3"]));
        assert_eq!(client.say("LL.RANGE m (ab [b REV"), texts(&["b", "4", "abc", "3"]));
        assert_eq!(client.say("LL.RANGE m - + LIMIT 2"), texts(&["a", "1", "ab", "2"]));
        assert_eq!(client.say("LL.RANGE m - + limit 1 rev"), texts(&["bc", "5"]));
        assert_eq!(client.say("LL.RANGE m [z [a"), texts(&[]));
        assert_eq!(client.say("LL.RANGE nothing - +"), texts(&[]));
        assert_eq!(client.say("LL.PREFIX m ab"), texts(&["ab", "2", "abc", "3"]));
        assert_eq!(client.say("LL.PREFIX m ab REV LIMIT 1"), texts(&["abc", "3"]));
        assert_eq!(client.say("LL.COUNT m (a +"), Reply::Integer(4));
        assert_eq!(client.say("LL.FLOOR m aaa"), texts(&["a", "1"]));
        assert_eq!(client.say("LL.CEILING m aaa"), texts(&["ab", "2"]));
        assert_eq!(client.say("LL.CEILING m z"), Reply::Null);
        assert_eq!(client.say("LL.DELRANGE m [ab [b"), Reply::Integer(3));
        assert_eq!(client.say("LL.RANGE m - +"), texts(&["a", "1", "bc", "5"]));
    });
}

#[test]
fn what_is_wrong_is_an_error() {
    with_server(|_, client| {
        client.say("SET text x");
        let long = "f".repeat(70_000);
        let wrong: [(&[&str], &str); 10] = [
            (&["LL.SET", "m", "a"], "wrong number of arguments"),
            (&["LL.SET", "m", "a", "1", "b"], "wrong number of arguments"),
            (&["LL.GET", "m"], "wrong number of arguments"),
            (&["LL.GET", "text", "a"], "WRONGTYPE"),
            (&["LL.SET", "text", "a", "1"], "WRONGTYPE"),
            (&["LL.SET", "m", "a", "1", &long, "2"], "a field has at most 65535 bytes"),
            (&["LL.RANGE", "m", "a", "b"], "a range begins with"),
            (&["LL.RANGE", "m", "-", "+", "LIMIT", "-1"], "a limit is not below 0"),
            (&["LL.RANGE", "m", "-", "+", "LIMIT", "x"], "ERR a limit is a number"),
            (&["LL.RANGE", "m", "-", "+", "DOWN"], "syntax error"),
        ];
        for (command, about) in wrong {
            let Reply::Error(message) = client.ask(command) else {
                panic!("{:?} isn't refused", &command[..2])
            };
            assert!(message.contains(about), "{message}");
        }
        assert_eq!(client.say("EXISTS m"), Reply::Integer(0), "a refused command changes nothing");
        assert_eq!(client.ask(&["LL.GET", "m", &long]), Reply::Null);
    });
}

/// Fills a map with 5,000 fields.
fn fill(client: &mut Client) {
    for start in (0..5000).step_by(500) {
        let words: Vec<String> =
            (start..start + 500).flat_map(|at| [format!("user/{at:05}"), format!("{}", at * 7)]).collect();
        let words: Vec<&str> = ["LL.SET", "m"].into_iter().chain(words.iter().map(String::as_str)).collect();
        assert_eq!(client.ask(&words), Reply::Integer(500));
    }
}

fn check(client: &mut Client) {
    assert_eq!(client.say("LL.LEN m"), Reply::Integer(5000));
    let Reply::List(all) = client.say("LL.RANGE m - +") else { panic!("a range is a list") };
    assert_eq!(all.len(), 10_000);
    for (at, entry) in all.chunks(2).enumerate() {
        assert_eq!(entry, [text(&format!("user/{at:05}")), text(&format!("{}", at * 7))]);
    }
}

#[test]
fn maps_outlive_the_server() {
    for (ways, save) in [
        (&[][..], Some("SAVE")),
        (&[], Some("BGSAVE")),
        (&["--appendonly", "yes"], None),
        (&["--appendonly", "yes", "--aof-use-rdb-preamble", "no"], Some("BGREWRITEAOF")),
    ] {
        let folder = TempDir::new().unwrap();
        let server = Server::start(folder.path(), ways);
        let mut client = server.connect();
        fill(&mut client);
        if let Some(save) = save {
            assert!(!matches!(client.say(save), Reply::Error(_)));
        }
        wait_for_saves(&mut client);
        drop(server);
        let server = Server::start(folder.path(), ways);
        let mut client = server.connect();
        check(&mut client);
    }
}

/// Waits until no child writes a file, and checks that the last one could.
fn wait_for_saves(client: &mut Client) {
    loop {
        let Reply::Text(state) = client.say("INFO persistence") else { panic!("INFO is a text") };
        if state.contains("rdb_bgsave_in_progress:0")
            && state.contains("aof_rewrite_in_progress:0")
            && state.contains("aof_rewrite_scheduled:0")
        {
            assert!(state.contains("rdb_last_bgsave_status:ok"), "{state}");
            assert!(state.contains("aof_last_bgrewrite_status:ok"), "{state}");
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Long ranges are read during writes, in transactions, too; each has every field that stays.
#[test]
fn long_ranges_beside_writes() {
    with_server(|server, client| {
        fill(client);
        let readers: Vec<_> = (0..3)
            .map(|_| {
                let mut client = server.connect();
                thread::spawn(move || {
                    for _ in 0..30 {
                        let Reply::List(all) = client.say("LL.PREFIX m user/") else { panic!("a list") };
                        assert_eq!(all.len(), 10_000);
                        assert_eq!(client.say("LL.COUNT m [user/ (user0"), Reply::Integer(5000));
                    }
                })
            })
            .collect();
        while readers.iter().any(|reader| !reader.is_finished()) {
            for at in 0..100 {
                client.say(&format!("LL.SET m aside/{at} x user/{at:05} {}", at * 7));
            }
            assert_eq!(client.say("LL.DELRANGE m [aside/ (aside0"), Reply::Integer(100));
        }
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        check(client);
        client.say("MULTI");
        client.say("LL.COUNT m - +");
        assert_eq!(client.say("EXEC"), Reply::List(vec![Reply::Integer(5000)]));
        assert_eq!(
            client.ask(&["EVAL", "return redis.call('LL.COUNT', 'm', '-', '+')", "0"]),
            Reply::Integer(5000)
        );
        // The map goes while a range of it is read: the reader keeps it.
        let mut other = server.connect();
        let reader = thread::spawn(move || other.say("LL.RANGE m - +"));
        client.say("DEL m");
        let Reply::List(all) = reader.join().unwrap() else { panic!("a list") };
        assert!(all.is_empty() || all.len() == 10_000, "{}", all.len());
    });
}

/// A number that INFO has.
fn info(client: &mut Client, name: &str) -> usize {
    let Reply::Text(all) = client.say("INFO memory") else { panic!("INFO is a text") };
    let line =
        all.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).expect("a line of INFO");
    line.parse().unwrap()
}

#[test]
fn the_limit_of_memory_holds_for_maps() {
    with_server(|_, client| {
        let before = info(client, "used_memory");
        fill(client);
        let Reply::Integer(bytes) = client.say("MEMORY USAGE m") else { panic!("a number") };
        let counted = info(client, "used_memory") - before;
        assert!(counted.abs_diff(bytes as usize) < 200 << 10, "{counted} bytes for {bytes}");
        client.say(&format!("CONFIG SET maxmemory {}", before + (8 << 20)));
        let value = "v".repeat(1000);
        let refused =
            (0..100_000).find_map(|at| match client.ask(&["LL.SET", "n", &format!("{at}"), &value]) {
                Reply::Error(message) => Some((at, message)),
                _ => None,
            });
        let (at, message) = refused.expect("the limit is met");
        assert!(message.starts_with("OOM"), "{message}");
        assert!((3_000..9_000).contains(&at), "{at} values of 1,000 bytes in 8 MB");
        assert_eq!(client.say("LL.GET m user/00001"), text("7"), "reads go on");
        // Removed entries' memory goes back to Redis, so that there is room again.
        assert_eq!(client.say("DEL n"), Reply::Integer(1));
        assert!(info(client, "used_memory") < before + (2 << 20));
        assert_eq!(client.say("LL.SET n a b"), Reply::Integer(1));
        // With a policy, maps are evicted like other keys.
        client.say("CONFIG SET maxmemory-policy allkeys-lru");
        for at in 0..50_000 {
            let set = client.ask(&["LL.SET", &format!("map {}", at / 1000), &format!("{at}"), &value]);
            assert_eq!(set, Reply::Integer(1));
        }
        let Reply::Integer(keys) = client.say("DBSIZE") else { panic!("a number") };
        assert!(keys < 20, "{keys} maps of a megabyte in 8 MB");
        assert_eq!(client.say("FLUSHALL"), text("OK"));
        assert!(info(client, "used_memory").abs_diff(before) < 1 << 20);
    });
}

/// The module's threads in the server, from Linux's list for its process. The server has some of its own.
fn threads(server: &Server) -> usize {
    let threads = std::fs::read_dir(format!("/proc/{}/task", server.process.id())).unwrap();
    let name = |thread: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(thread.unwrap().path().join("comm"))
    };
    threads.filter_map(|thread| name(thread).ok()).filter(|name| name.starts_with("latchless-")).count()
}

#[test]
fn a_range_of_few_entries_needs_no_thread_and_many_long_ones_need_four() {
    with_server(|server, client| {
        fill(client);
        assert_eq!(client.say("LL.PREFIX m user/00001"), texts(&["user/00001", "7"]));
        assert_eq!(client.say("LL.RANGE m [user/00001 [user/00001"), texts(&["user/00001", "7"]));
        assert_eq!(threads(server), 0);
        let clients: Vec<_> = (0..40)
            .map(|_| {
                let mut client = server.connect();
                thread::spawn(move || {
                    for _ in 0..5 {
                        let Reply::List(all) = client.say("LL.RANGE m - +") else { panic!("a list") };
                        assert_eq!(all.len(), 10_000);
                    }
                })
            })
            .collect();
        let mut most = 0;
        while clients.iter().any(|client| !client.is_finished()) {
            most = most.max(threads(server));
            assert_eq!(client.say("PING"), text("PONG"));
        }
        clients.into_iter().for_each(|client| client.join().unwrap());
        assert_eq!(most, 4);
    });
}
