/** Finds the interpreters of this machine, and tests whether the machine can confine programs. */
import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { messageOf } from '#kernel'
import { type Confinement, type Launch, type LaunchOptions, launchOfText } from './launch.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import type { Interpreter, Language } from './program.ts'

export interface Machine {
  readonly confinement: Confinement
  readonly interpreters: ReadonlyMap<Language, Interpreter>
  readonly lacks: readonly string[]
}

export interface InspectOptions {
  readonly confinement: Confinement
  readonly emptyFolder: string
  /** Environment of this process; `python3` is found through its PATH */
  readonly environment: Readonly<Record<string, string | undefined>>
}

const NODE_MAJOR = 24
const PYTHON_LEAST = [3, 9] as const
const TRY_MS = 20_000

/** Programs that exit with success only if the machine's files are hidden. */
const TRY_HIDDEN = {
  node: `process.exit(require('node:fs').existsSync('/etc') ? 3 : 0)`,
  python: `import os,sys; sys.exit(3 if os.path.exists('/etc') else 0)`,
} as const
const TRY_AT_ALL = { node: `process.exit(0)`, python: `raise SystemExit(0)` } as const
const TELL_PYTHON = `import json,os,sys; print(json.dumps([os.path.realpath(sys.executable), sys.base_prefix, *sys.version_info[:2]]))`

const OPEN_MACHINE =
  'functions are trusted: they can reach the network, and those in Python the files of this host; use --functions fenced to prevent both'

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
    if (problem !== undefined) lacks.push(`functions for ${NAMES[language]} are disabled: ${problem}`)
    else if (typeof found !== 'string') interpreters.set(language, found)
  }
  return { confinement, interpreters, lacks }
}

const NAMES = { node: 'Node', python: 'Python' } as const

/**
 * Returns a separate user id for each process, since limits apply per user; hosts on one machine use different ranges.
 * undefined: this process may not choose users, and namespaces separate the processes.
 */
export function nextUser(): number | undefined {
  if (process.getuid?.() !== 0) return undefined
  last = (last + 1) % USERS
  return firstUser + last
}

const USERS = 10_000
/** Above the ids that systems and containers assign, below ids that old tools read as negative */
const [FIRST_RANGE, END_OF_RANGES] = [190_000, 214_748]
const firstUser = USERS * randomInt(FIRST_RANGE, END_OF_RANGES)
let last = 0

function findNode(): Promise<Interpreter | string> {
  const [major = 0] = process.versions.node.split('.').map(Number)
  if (major >= NODE_MAJOR) return Promise.resolve({ path: process.execPath, readable: [] })
  return Promise.resolve(`they require Node ${NODE_MAJOR} or newer, but the host runs on ${process.versions.node}`)
}

async function findPython({ environment }: InspectOptions): Promise<Interpreter | string> {
  const { PATH } = environment
  try {
    const output = await run(
      { command: 'python3', args: ['-I', '-S', '-c', TELL_PYTHON] },
      PATH === undefined ? {} : { PATH },
    )
    const [path, prefix, major, minor] = JSON.parse(output) as [string, string, number, number]
    const [leastMajor, leastMinor] = PYTHON_LEAST
    if (major !== leastMajor || minor < leastMinor) return `they require Python ${PYTHON_LEAST.join('.')} or newer`
    return { path, readable: prefix === '/usr' ? [] : [prefix] }
  } catch (error) {
    return `python3 was not found (${messageOf(error).split('\n')[0]})`
  }
}

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
    return `this machine cannot run them ${confinement} (${messageOf(error).trim().split('\n').at(-1)})`
  }
}

function run({ command, args }: Launch, env: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { env, timeout: TRY_MS, killSignal: 'SIGKILL' }, (error, output) => {
      if (error === null) resolve(output)
      else reject(new Error(error.message))
    })
  })
}
