/**
 * How a program is started. Confined, it is in namespaces of its own: it sees no network, no other process, and of the
 * files of the machine only its interpreter, the system's libraries and what it was given to read, all of it read-only.
 * It has no environment, no capability, and limits on memory, processes and files that the system keeps. In Python, where
 * native calls are open to it, the kernel refuses those that lead out, and those that take memory which no process has.
 * Trusted, it has the limits and Node's own permissions, and the rest of the machine is open to it.
 */
import { ENTER_VIEW, LEAVE_FILES, MAKE_VIEW, RUN_WITHOUT_CAPABILITIES } from './file-view.ts'
import { fileURLToPath } from 'node:url'
import type { ProcessLimits } from './limits.ts'
import type { Interpreter, Language, Program } from './program.ts'

/** How programs are kept from the machine. */
export type Confinement = 'confined' | 'trusted'

export interface LaunchOptions {
  readonly confinement: Confinement
  readonly interpreter: Interpreter
  readonly limits: ProcessLimits
  /** absolute path of an empty folder, over which the program's view of the files is made */
  readonly emptyFolder: string
  /** a user id that no other process has; undefined when this process may not choose */
  readonly user: number | undefined
}

export interface Launch {
  readonly command: string
  readonly args: readonly string[]
}

export interface ProgramLaunch extends Launch {
  /** processes until the program starts some of its own */
  readonly alone: number
}

/** The sources when this runs from sources, else what was built from them. */
const NODE_BOOTSTRAP = import.meta.url.endsWith('.ts')
  ? new URL('./node-bootstrap.ts', import.meta.url)
  : new URL('./node-bootstrap.js', import.meta.url)
const BOOTSTRAP: Readonly<Record<Language, string>> = {
  node: fileURLToPath(NODE_BOOTSTRAP),
  python: fileURLToPath(new URL('./bootstrap.py', import.meta.url)),
}

const SHELL = '/bin/sh'
const UNSHARE = '/usr/bin/unshare'

/** KiB beside the heap: 576 MiB that Node 24 reserves for code and threads without using them, and room for buffers */
const NODE_EXTRA_KIB = (576 + 64) * 1024
/** KiB of addresses that Python wants beside its data: libraries such as scikit-learn map 200 MiB; what is taken is looked at */
const PYTHON_EXTRA_KIB = 384 * 1024

/**
 * Makes the view, then gives up everything by which it was made. Arguments: the empty folder, the user or `-`, which
 * limit of memory counts, KiB of it, processes, files, whether it sees itself, paths to show up to `--`, and the command.
 */
const CONFINE = `set -e
root=$1 user=$2 memory=$3 kib=$4 tasks=$5 files=$6 itself=$7; shift 7
PATH=/usr/bin:/bin:/usr/sbin:/sbin
${MAKE_VIEW}while [ "$1" != -- ]; do show "$1" ro,nosuid,nodev; shift; done; shift
if [ "$itself" = yes ]; then show_own_processes; fi
${ENTER_VIEW}cd /
${LEAVE_FILES}unset PATH PWD OLDPWD
ulimit -c 0; ulimit -n "$files"; ulimit -p "$tasks"; ulimit -"$memory" "$kib"; ulimit -f 0
if [ "$user" = - ]; then own=; else own="--reuid=$user --regid=$user --clear-groups"; fi
${RUN_WITHOUT_CAPABILITIES}`

/** The same limits without a view. Arguments as above, from the limit of memory on. */
const LIMIT = `set -e
memory=$1 kib=$2 files=$3; shift 3
unset PATH PWD OLDPWD
ulimit -c 0; ulimit -n "$files"; ulimit -"$memory" "$kib"; ulimit -f 0
exec "$@"
`

/** The command that starts a program. */
export function launchOf(
  { language, readable, seesItself = false }: Pick<Program, 'language' | 'readable' | 'seesItself'>,
  options: LaunchOptions,
): ProgramLaunch {
  const { limits, interpreter, confinement } = options
  const flags = language === 'python' ? ['-I', '-S', '-B'] : nodeFlags([BOOTSTRAP.node, ...readable], limits)
  const command = [interpreter.path, ...flags, BOOTSTRAP[language], confinement]
  const shown = { readable: [BOOTSTRAP[language], ...readable], seesItself }
  // what makes the namespaces waits for the program
  return { ...launchOfCommand(language, command, shown, options), alone: confinement === 'confined' ? 2 : 1 }
}

/** The command that runs a text of code in the same view and limits, without Node's own permissions. */
export function launchOfText(language: Language, code: string, options: LaunchOptions): Launch {
  const { interpreter } = options
  const flags = language === 'python' ? ['-I', '-S', '-B', '-c'] : ['--eval']
  return launchOfCommand(language, [interpreter.path, ...flags, code], { readable: [], seesItself: false }, options)
}

function launchOfCommand(
  language: Language,
  command: readonly string[],
  { readable, seesItself }: { readonly readable: readonly string[]; readonly seesItself: boolean },
  { confinement, interpreter, limits, emptyFolder, user }: LaunchOptions,
): Launch {
  const memory = memoryOf(language, limits)
  const files = String(limits.openFiles)
  if (confinement === 'trusted') {
    return { command: SHELL, args: ['-c', LIMIT, 'sandbox', ...memory, files, ...command] }
  }
  const shown = outermost([...new Set([interpreter.path, ...interpreter.readable, ...readable])])
  const spaces = ['--net', '--mount', '--pid', '--ipc', '--fork', '--kill-child']
  const who = user === undefined ? ['--map-root-user'] : []
  const bounds = [emptyFolder, String(user ?? '-'), ...memory, String(limits.tasks), files, seesItself ? 'yes' : 'no']
  return {
    command: UNSHARE,
    args: [...who, ...spaces, SHELL, '-c', CONFINE, 'sandbox', ...bounds, ...shown, '--', ...command],
  }
}

/** Which of the system's limits counts memory, and its KiB: Node reserves far more addresses than it uses. */
function memoryOf(language: Language, { memoryMib }: ProcessLimits): readonly [string, string] {
  const kib = memoryMib * 1024
  return language === 'node' ? ['d', String(kib + NODE_EXTRA_KIB)] : ['v', String(kib + PYTHON_EXTRA_KIB)]
}

function nodeFlags(readable: readonly string[], limits: ProcessLimits): readonly string[] {
  return [
    '--permission',
    '--no-experimental-sqlite',
    '--disable-warning=ExperimentalWarning',
    `--max-old-space-size=${limits.memoryMib}`,
    ...readable.map((path) => `--allow-fs-read=${path}`),
  ]
}

/** Without those that lie in another one: what is shown read-only cannot be shown in once more. */
function outermost(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && path.startsWith(`${other}/`)))
}
