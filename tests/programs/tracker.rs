//! The example `tracker`, with a runtime and without: what changed since its last run.

use kit::process;

use crate::quake3_server;
use crate::sessions::{are_built, examples};

#[test]
fn a_tracker_prints_what_changed_and_keeps_the_statuses() {
    let names = ["tracker", "tracker_blocking"];
    if !are_built(&names) {
        return;
    }
    let info = r"\mapname\q3dm17\sv_hostname\Srv";
    let server = quake3_server(info).to_string();
    for name in names {
        let file = std::env::temp_dir().join(format!("queryport-{name}-{}", std::process::id()));
        let run = || {
            let mut command = std::process::Command::new(examples().join(name));
            let output = process::output(command.arg(&file).args(["quake3", &server]));
            let [out, err] =
                [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
            (output.status.code(), out, err)
        };
        let plays = format!("{server} plays q3dm17 now\n");
        assert_eq!(run(), (Some(0), plays.clone(), String::new()));
        let kept = std::fs::read_to_string(&file).unwrap();
        let is_kept = kept.contains("\"q3dm17\"") && kept.contains(&server);
        assert!(is_kept && kept.lines().count() == 1, "{kept}");
        assert_eq!(
            run(),
            (Some(0), String::new(), String::new()),
            "nothing changed"
        );
        std::fs::write(&file, kept.replace("q3dm17", "q3dm6")).unwrap();
        assert_eq!(run(), (Some(0), plays, String::new()));
        std::fs::write(&file, "nonsense\n").unwrap();
        let (code, out, err) = run();
        assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
        let words = format!("{}: expected ident at line 1 column 2\n", file.display());
        assert_eq!(err, words);
        std::fs::remove_file(&file).unwrap();
    }
}
