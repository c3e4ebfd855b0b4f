/** What this machine has for programs of others: interpreters, and whether it can confine them. It is tried, not guessed. */
import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { messageOf } from '#kernel'
import { type Confinement, type Launch, type LaunchOptions, launchOfText } from './launch.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import type { Interpreter, Language } from './program.ts'

export interface Machine {
  readonly confinement: Confinement
  /** languages whose programs can be run */
  readonly interpreters: ReadonlyMap<Language, Interpreter>
  /** what is not kept from programs, and what cannot be run: a sentence each */
  readonly lacks: readonly string[]
}

export interface InspectOptions {
  readonly confinement: Confinement
  /** absolute path of an empty folder */
  readonly emptyFolder: string
  /** of this process; where `python3` is looked for */
  readonly environment: Readonly<Record<string, string | undefined>>
}

const NODE_MAJOR = 24
const PYTHON_LEAST = [3, 9] as const
const TRY_MS = 20_000

/** They end well only where the files of the machine are hidden. */
const TRY_HIDDEN = {
  node: `process.exit(require('node:fs').existsSync('/etc') ? 3 : 0)`,
  python: `import os,sys; sys.exit(3 if os.path.exists('/etc') else 0)`,
} as const
const TRY_AT_ALL = { node: `process.exit(0)`, python: `raise SystemExit(0)` } as const
const TELL_PYTHON = `import json,os,sys; print(json.dumps([os.path.realpath(sys.executable), sys.base_prefix, *sys.version_info[:2]]))`

const OPEN_MACHINE =
  'functions are trusted: they reach the network, and those in Python the files of this host; --functions fenced keeps them from both'

/** Tries what there is; never throws. */
export async function inspectMachine(options: InspectOptions): Promise<Machine> {
  const { confinement } = options
  const lacks: string[] = confinement === 'confined' ? [] : [OPEN_MACHINE]
  const interpreters = new Map<Language, Interpreter>()
  for (const [language, find] of [
    ['node', findNode],
    ['python', findPython],
  ] as const) {
    const found = await find(options)
    const problem = typeof found === 'string' ? found : await problemOf(language, found, options)
    if (problem !== undefined) lacks.push(`functions for ${NAMES[language]} are not run: ${problem}`)
    else if (typeof found !== 'string') interpreters.set(language, found)
  }
  return { confinement, interpreters, lacks }
}

const NAMES = { node: 'Node', python: 'Python' } as const

/**
 * A user id for each process, so that limits count by process and none may touch another; undefined when this process
 * may not choose, and then namespaces keep them apart. Hosts on one machine draw ranges of their own: the system counts
 * by user, whoever started them.
 */
export function nextUser(): number | undefined {
  if (process.getuid?.() !== 0) return undefined
  last = (last + 1) % USERS
  return firstUser + last
}

/** users of one host: far more than it has processes at once */
const USERS = 10_000
/** above what systems and containers give out, below what old tools take for negative */
const [FIRST_RANGE, END_OF_RANGES] = [190_000, 214_748]
const firstUser = USERS * randomInt(FIRST_RANGE, END_OF_RANGES)
let last = 0

function findNode(): Promise<Interpreter | string> {
  const [major = 0] = process.versions.node.split('.').map(Number)
  if (major >= NODE_MAJOR) return Promise.resolve({ path: process.execPath, readable: [] })
  return Promise.resolve(`they want Node ${NODE_MAJOR} or newer, and the host runs on ${process.versions.node}`)
}

async function findPython({ environment }: InspectOptions): Promise<Interpreter | string> {
  const { PATH } = environment
  try {
    const told = await run(
      { command: 'python3', args: ['-I', '-S', '-c', TELL_PYTHON] },
      PATH === undefined ? {} : { PATH },
    )
    const [path, prefix, major, minor] = JSON.parse(told) as [string, string, number, number]
    const [leastMajor, leastMinor] = PYTHON_LEAST
    if (major !== leastMajor || minor < leastMinor) return `they want Python ${PYTHON_LEAST.join('.')} or newer`
    return { path, readable: prefix === '/usr' ? [] : [prefix] }
  } catch (error) {
    return `python3 is not there (${messageOf(error).split('\n')[0]})`
  }
}

/** Why programs of that language cannot be run; undefined: they can. */
async function problemOf(
  language: Language,
  interpreter: Interpreter,
  { confinement, emptyFolder }: InspectOptions,
): Promise<string | undefined> {
  const options: LaunchOptions = { confinement, interpreter, emptyFolder, limits: DEFAULT_LIMITS, user: nextUser() }
  const code = (confinement === 'confined' ? TRY_HIDDEN : TRY_AT_ALL)[language]
  try {
    await run(launchOfText(language, code, options), {})
    return undefined
  } catch (error) {
    return `this machine does not let them be ${confinement} (${messageOf(error).trim().split('\n').at(-1)})`
  }
}

/** What it printed. Rejects when it ends otherwise than with 0. */
function run({ command, args }: Launch, env: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { env, timeout: TRY_MS, killSignal: 'SIGKILL' }, (error, output) => {
      if (error === null) resolve(output)
      else reject(new Error(error.message))
    })
  })
}
