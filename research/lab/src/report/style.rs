//! The style of the page, in light and dark mode.

/// The page's style sheet. Series are `.s0` to `.s6`; the baseline is grey.
pub const CSS: &str = "
:root{--bg:#fff;--ink:#1d2430;--soft:#5c6675;--line:#dde2ea;--card:#f7f8fa;
--s0:#8a94a3;--s1:#d9822b;--s2:#7aa7d9;--s3:#3f7fc1;--s4:#14508c;--s5:#7b4fb0;--s6:#2c9a6b}
@media(prefers-color-scheme:dark){:root{--bg:#14181f;--ink:#e4e8ee;--soft:#98a2b0;--line:#2b323d;--card:#1b2029;
--s0:#8f99a8;--s1:#eb9a4c;--s2:#9cc2ea;--s3:#5c9fe0;--s4:#3f7fd0;--s5:#a57fd6;--s6:#4dbb8b}}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:1120px;margin:0 auto;padding:2rem 1.25rem 4rem}
h1{font-size:1.9rem;margin:0 0 .25rem}h2{font-size:1.25rem;margin:2.5rem 0 0}
h3{font-size:1.15rem;margin:2.5rem 0 .25rem}
p{margin:.25rem 0;max-width:75ch}.remark{color:var(--soft);font-size:.92rem}
nav{display:flex;flex-wrap:wrap;gap:.4rem;margin:1rem 0}
nav a{color:inherit;text-decoration:none;border:1px solid var(--line);border-radius:99px;padding:.1rem .7rem;font-size:.9rem}
nav a:hover{background:var(--card)}
.charts{display:flex;flex-wrap:wrap;gap:1rem;margin:.75rem 0}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.75rem .75rem .25rem}
figcaption{font-weight:600;font-size:.95rem;margin:0 .25rem .25rem}
svg{display:block;max-width:100%;height:auto}svg text{fill:var(--soft);font:12px system-ui,sans-serif}
.key svg{display:inline-block}
.axis{stroke:var(--line);stroke-width:1}.curve{fill:none;stroke-width:2;stroke-linejoin:round}
.dot{stroke:var(--card);stroke-width:1.5}.band{opacity:.18;stroke:none}
.mark{fill:none!important;stroke-width:1.6}.legend{font-size:12px}
.s0{fill:var(--s0);stroke:var(--s0)}.s1{fill:var(--s1);stroke:var(--s1)}.s2{fill:var(--s2);stroke:var(--s2)}
.s3{fill:var(--s3);stroke:var(--s3)}.s4{fill:var(--s4);stroke:var(--s4)}.s5{fill:var(--s5);stroke:var(--s5)}
.s6{fill:var(--s6);stroke:var(--s6)}.curve.s0,.curve.s1,.curve.s2,.curve.s3,.curve.s4,.curve.s5,.curve.s6{fill:none}
.bar{stroke:none}.curve.again{stroke-dasharray:6 4}rect.again{opacity:.6}
details{margin:.25rem 0}summary{cursor:pointer;color:var(--soft)}
table{border-collapse:collapse;font-size:.85rem;margin:.5rem 0;display:block;overflow-x:auto}
th,td{padding:.15rem .6rem;border-bottom:1px solid var(--line);text-align:left;white-space:nowrap}
td.n{text-align:right;font-variant-numeric:tabular-nums}
pre{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:.4rem .7rem;font-size:.85rem;overflow-x:auto;margin:.4rem 0}
";

/// The number of colours.
const COLOURS: usize = 7;

/// The classes of a series: its colour, and whether another one has that already.
pub fn class(name: &str, position: usize) -> String {
    let again = if position < COLOURS { "" } else { " again" };
    format!("s{}{again}", colour(name, position))
}

/// The colour of a series: an index has the same one on every chart; others by their position.
pub fn colour(name: &str, position: usize) -> usize {
    match name {
        "b-plus" => 0,
        "csb" | "p8e" => 1,
        "p2" => 2,
        "p4" => 3,
        "p8" => 4,
        "p16" | "p8i" => 5,
        "p8-csb" | "p8-sweep" => 6,
        _ => position % COLOURS,
    }
}
