/** Runs the command line in a temporary folder: most commands in this process, the others in a child process. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { plain, type Terminal } from '../../src/cli/terminal.ts'
import { bareEnvironment } from '../support/bare-environment.ts'
import { builtCode } from '../support/built-code.ts'
import { root } from '../support/repository.ts'

export interface Outcome {
  code: number | null
  stdout: string
  stderr: string
}

interface Settings {
  cwd?: string
  input?: string
  env?: Record<string, string>
}

/** Words of a command, as a list or separated by blanks. */
export type Words = string | readonly string[]

/** Commands that run until a signal, or start processes of their own. */
const LONG = new Set(['serve', 'bench', 'functions'])

/** Waits for earlier commands, since the process has only one working folder and environment */
let before: Promise<unknown> = Promise.resolve()

/**
 * Runs `reflexarc <args>` until it ends: in a separate process if it reads input, loads users' modules, or runs long.
 */
export function cli(command: Words, settings: Settings = {}): Promise<Outcome> {
  const args = typeof command === 'string' ? command.split(' ') : command
  const isOwn = settings.input !== undefined || args.includes('--plugs') || LONG.has(args[0] ?? '')
  if (isOwn) return inProcessOfItsOwn(args, settings)
  const outcome = before.then(() => inThisProcess(args, settings))
  before = outcome.catch(() => {})
  return outcome
}

async function inThisProcess(args: readonly string[], { cwd = root, env = {} }: Settings): Promise<Outcome> {
  const outcome = { stdout: '', stderr: '' }
  const terminal: Terminal = {
    out: (text) => void (outcome.stdout += text),
    err: (text) => void (outcome.stderr += text),
    paint: plain,
    outIsTerminal: false,
    errIsTerminal: false,
    closed: false,
    full: false,
    drained: () => Promise.resolve(),
  }
  const { env: ours } = process
  const place = process.cwd()
  process.chdir(cwd)
  process.env = { ...bareEnvironment, ...env }
  try {
    return { code: await runCommandLine(args, terminal), ...outcome }
  } finally {
    process.env = ours
    process.chdir(place)
  }
}

/** Runs the built code, the way users start it. */
async function inProcessOfItsOwn(args: readonly string[], settings: Settings = {}): Promise<Outcome> {
  const { cwd = root, input = '', env = {} } = settings
  const child = spawn(process.execPath, [builtCode('cli.js'), ...args], {
    cwd,
    env: { ...bareEnvironment, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const outcome: Outcome = { code: null, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (outcome.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (outcome.stderr += text))
  // A command that fails early never reads its input.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  return await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ ...outcome, code }))
  })
}

/** A temporary folder with files in it; `using` removes it. */
export class Workspace implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'reflexarc-cli-'))

  constructor(files: Readonly<Record<string, unknown>>) {
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(join(this.path, name), typeof content === 'string' ? content : JSON.stringify(content))
    }
  }

  cli(args: Words, settings: Omit<Settings, 'cwd'> = {}): Promise<Outcome> {
    return cli(args, { ...settings, cwd: this.path })
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}
