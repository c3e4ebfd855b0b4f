/** The command line as a child process, in a folder of its own. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

/** Words of a command; in a text they have blanks between them. */
export type Words = string | readonly string[]

/** Runs `reflexarc <args>` to its end. */
export async function cli(args: Words, settings: Settings = {}): Promise<Outcome> {
  const { cwd = root, input = '', env = {} } = settings
  const words = typeof args === 'string' ? args.split(' ') : args
  const child = spawn(process.execPath, [builtCode('cli.js'), ...words], {
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

/** A temporary folder with files in it; `using` takes it away again. */
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
