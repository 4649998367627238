import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { accepts, freePort, launch, type Owner, own, serverFolder } from "./launch.ts";
import { lacks, type RealServer, type Stoppable } from "./server.ts";

export interface MailServer extends Stoppable {
  readonly smtpPort: number;
  readonly imapPort: number;
  /** The password of every IMAP user. */
  readonly password: string;
  /** The letters that were delivered to this mailbox, as they lie there. Exim's own journal says what is on its way. */
  letters(mailbox: Mailbox): readonly string[];
  /** Letters that Exim has taken and not yet delivered. */
  waiting(): number;
}

/** Who has a mailbox. `full` is refused for good, `later` for now, and nobody else is known. */
const MAILBOXES = ["ann", "bob", "archive"] as const;
type Mailbox = (typeof MAILBOXES)[number];

const DOMAIN = "example.test";
const PASSWORD = "open-sesame";

/** Exim takes letters for `…@example.test`, Dovecot shows the mailboxes. A subject with "refuse me" or "not now" is answered so after the dot. */
export const eximDovecot: RealServer<MailServer> = {
  name: "Exim and Dovecot",
  installed: () =>
    lacks("exim4-daemon-light", "exim4") ??
    lacks("dovecot-imapd", "dovecot", "/usr/lib/dovecot/imap") ??
    lacksRights(),
  start: async () => {
    const as = eximUser();
    assert(as !== undefined, "installed() has looked for it");
    const folder = serverFolder("exim", as);
    const mail = `${folder}/mail`;
    for (const made of [mail, `${folder}/spool`, `${folder}/log`]) {
      mkdirSync(made);
      own(made, as);
    }
    const [smtpPort, imapPort] = [await freePort(), await freePort()];
    const exim = await startExim(folder, smtpPort, as);
    try {
      const dovecot = await startDovecot(mail, imapPort, as);
      return {
        smtpPort,
        imapPort,
        password: PASSWORD,
        letters: (mailbox) => lettersIn(`${mail}/${mailbox}`),
        waiting: () => filesIn(`${folder}/spool/input`).filter((name) => name.endsWith("-H")).length,
        stop: async () => {
          await dovecot.stop();
          await exim.stop();
        },
      };
    } catch (error) {
      await exim.stop();
      throw error;
    }
  },
};

function startExim(folder: string, port: number, as: Owner): Promise<Stoppable> {
  const file = `${folder}/exim.conf`;
  writeFileSync(file, eximConfiguration(folder, port));
  return launch({
    program: "exim4",
    args: ["-C", file, "-bdf"],
    folder,
    as,
    ready: () => accepts(port),
  });
}

/** Exim gives its spool to the user it was built for, which only root and that user can do; Dovecot reads what Exim delivers. */
interface EximUser extends Owner {
  readonly user: string;
  readonly group: string;
}

function eximUser(): EximUser | undefined {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((one) => one.startsWith("Debian-exim:"));
  const [user = "", , uid, gid] = (line ?? "").split(":");
  if (user === "") return undefined;
  const group = readFileSync("/etc/group", "utf8")
    .split("\n")
    .find((one) => one.split(":")[2] === gid);
  return { user, uid: Number(uid), gid: Number(gid), group: group?.split(":")[0] ?? user };
}

function lacksRights(): string | undefined {
  const exim = eximUser();
  if (exim === undefined) return "the user Debian-exim is not here (Debian package exim4-base)";
  const uid = process.getuid?.();
  return uid === 0 || uid === exim.uid
    ? undefined
    : "Exim gives its spool to the user Debian-exim, which only root and that user can do";
}

function eximConfiguration(folder: string, port: number): string {
  return `
primary_hostname = mail.${DOMAIN}
spool_directory = ${folder}/spool
log_file_path = ${folder}/log/%slog
# With -C it has no rights but ours, so it delivers with ours.
deliver_drop_privilege = true
never_users =
keep_environment =
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port}
pid_file_path = ${folder}/exim.pid
tls_advertise_hosts =
host_lookup =
rfc1413_hosts =
smtp_accept_max = 50
smtp_enforce_sync = true
accept_8bitmime = true
delay_warning =
acl_smtp_rcpt = rcpt
acl_smtp_data = data
begin acl
rcpt:
  deny local_parts = full
       message = 5.2.2 this mailbox is full
  defer local_parts = later
       message = 4.2.0 come back later
  require verify = recipient
  accept
data:
  deny condition = \${if match{$h_subject:}{refuse me}}
       message = 5.7.1 not this letter
  defer condition = \${if match{$h_subject:}{not now}}
       message = 4.3.2 not this moment
  accept
begin routers
mailboxes:
  driver = accept
  domains = ${DOMAIN}
  local_parts = ${MAILBOXES.join(" : ")}
  transport = maildir
begin transports
maildir:
  driver = appendfile
  directory = ${folder}/mail/$local_part_data
  create_directory
  maildir_format
  return_path_add
  delivery_date_add
begin retry
* * F,2h,1m
`;
}

function startDovecot(mail: string, port: number, as: EximUser): Promise<Stoppable> {
  const folder = serverFolder("dovecot", as);
  const file = `${folder}/dovecot.conf`;
  writeFileSync(file, dovecotConfiguration({ folder, mail, port, as }));
  return launch({
    program: "dovecot",
    args: ["-F", "-c", file],
    folder,
    as,
    ready: () => accepts(port),
  });
}

interface DovecotPlace {
  readonly folder: string;
  readonly mail: string;
  readonly port: number;
  readonly as: EximUser;
}

function dovecotConfiguration({ folder, mail, port, as }: DovecotPlace): string {
  const { user, uid, group, gid } = as;
  return `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
default_internal_user = ${user}
default_login_user = ${user}
default_internal_group = ${group}
first_valid_uid = 1
first_valid_gid = 0
mail_location = maildir:${mail}/%u
mail_fsync = never
auth_failure_delay = 0
passdb {
  driver = static
  args = password=${PASSWORD}
}
userdb {
  driver = static
  args = uid=${uid} gid=${gid} home=${mail}/%u
}
service anvil {
  chroot =
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
`;
}

function lettersIn(folder: string): readonly string[] {
  return ["new", "cur"].flatMap((part) =>
    filesIn(`${folder}/${part}`).map((name) => readFileSync(`${folder}/${part}/${name}`, "utf8")),
  );
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Made with the first letter.
    return [];
  }
}
