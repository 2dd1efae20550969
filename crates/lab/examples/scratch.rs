//! scratch
use latchless_lab::experiment::Scale; use latchless_lab::runner::*;
fn main(){ let a:Vec<String>=std::env::args().skip(1).collect();
 let scale = if a[0]=="small" {Scale::Small} else {Scale::Paper};
 let places = match a[1].as_str() {"native"=>Places::Native,"both"=>Places::Both,_=>Places::Model};
 let sel=latchless_lab::select(&a[2..]).unwrap();
 let t=std::time::Instant::now();
 let rows=run(&sel,places,scale,&mut |_|()).unwrap();
 for r in rows { println!("{:8} {:7} {:10} {:>10} {:28} {:8.3} {:12} {:10.1} {}", r.experiment,r.panel,r.series,r.x,r.unit,r.ours,r.published.map(|p|p.to_string()).unwrap_or_default(),r.cost.unwrap_or(0.0),r.note); }
 eprintln!("{:?}",t.elapsed()); }
