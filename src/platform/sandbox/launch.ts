/**
 * Builds the command lines of programs. A confined program runs in its own namespaces: it has no network, sees no other
 * processes, and can only read its interpreter, the system libraries and given files. It has no environment and no
 * capabilities, and the system limits its memory, processes and files. In Python, where native calls are possible, the
 * kernel rejects system calls that would escape or take unaccounted memory. A trusted program only has the limits and
 * Node's permissions, and can access the rest of the machine.
 */
import { ENTER_VIEW, LEAVE_FILES, MAKE_VIEW, RUN_WITHOUT_CAPABILITIES } from './file-view.ts'
import { fileURLToPath } from 'node:url'
import type { ProcessLimits } from './limits.ts'
import type { Interpreter, Language, Program } from './program.ts'

export type Confinement = 'confined' | 'trusted'

export interface LaunchOptions {
  readonly confinement: Confinement
  readonly interpreter: Interpreter
  readonly limits: ProcessLimits
  readonly emptyFolder: string
  /** Unique user id; undefined if this process may not choose users */
  readonly user: number | undefined
}

export interface Launch {
  readonly command: string
  readonly args: readonly string[]
}

export interface ProgramLaunch extends Launch {
  /** Number of processes before the program starts its own */
  readonly alone: number
}

const NODE_BOOTSTRAP = import.meta.url.endsWith('.ts')
  ? new URL('./node-bootstrap.ts', import.meta.url)
  : new URL('./node-bootstrap.js', import.meta.url)
const BOOTSTRAP: Readonly<Record<Language, string>> = {
  node: fileURLToPath(NODE_BOOTSTRAP),
  python: fileURLToPath(new URL('./bootstrap.py', import.meta.url)),
}

const SHELL = '/bin/sh'
const UNSHARE = '/usr/bin/unshare'

/** KiB beyond the heap: 576 MiB that Node 24 reserves without using them, and room for buffers */
const NODE_EXTRA_KIB = (576 + 64) * 1024
/** KiB of address space beyond its data: scikit-learn maps 200 MiB; the used memory is monitored */
const PYTHON_EXTRA_KIB = 384 * 1024

/**
 * Script that builds the view, then drops all privileges. Arguments: the empty folder, the user or `-`, the kind of
 * memory limit, its KiB, the limits for processes and files, whether the program sees its own processes, paths to show
 * up to `--`, and the command.
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

/** Sets the same limits without a view. Arguments: those of CONFINE from the memory limit on, without two. */
const LIMIT = `set -e
memory=$1 kib=$2 files=$3; shift 3
unset PATH PWD OLDPWD
ulimit -c 0; ulimit -n "$files"; ulimit -"$memory" "$kib"; ulimit -f 0
exec "$@"
`

export function launchOf(
  { language, readable, seesItself = false }: Pick<Program, 'language' | 'readable' | 'seesItself'>,
  options: LaunchOptions,
): ProgramLaunch {
  const { limits, interpreter, confinement } = options
  const flags = language === 'python' ? ['-I', '-S', '-B'] : nodeFlags([BOOTSTRAP.node, ...readable], limits)
  const command = [interpreter.path, ...flags, BOOTSTRAP[language], confinement]
  const shown = { readable: [BOOTSTRAP[language], ...readable], seesItself }
  // confined: the process that creates the namespaces waits for the program
  return { ...launchOfCommand(language, command, shown, options), alone: confinement === 'confined' ? 2 : 1 }
}

/** Runs program text in the same view and with the same limits, without Node's permissions. */
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
  const userFlags = user === undefined ? ['--map-root-user'] : []
  const bounds = [emptyFolder, String(user ?? '-'), ...memory, String(limits.tasks), files, seesItself ? 'yes' : 'no']
  return {
    command: UNSHARE,
    args: [...userFlags, ...spaces, SHELL, '-c', CONFINE, 'sandbox', ...bounds, ...shown, '--', ...command],
  }
}

/** Node's limit (KiB) is on data, since Node reserves far more addresses than it uses. */
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

/** Removes paths inside other paths: a read-only mount cannot contain another mount. */
function outermost(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && path.startsWith(`${other}/`)))
}
