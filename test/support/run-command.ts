import { spawnSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { root } from './repository.ts'

export interface Outcome {
  code: number
  stdout: string
  stderr: string
}

/** ms after which a command counts as hanging */
const HANGS = 240_000

/** Runs a command to its end, without a shell, input or npm's own variables. */
export function run(command: string, args: readonly string[], cwd: string): Outcome {
  const done = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: plainEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    // the only way to end a hanging command, because the caller blocks
    timeout: HANGS,
  })
  if (done.error) throw done.error
  return { code: done.status ?? -1, stdout: done.stdout, stderr: done.stderr }
}

/** Same as `run`, but throws with the whole output unless the exit code is 0. Returns stdout. */
export function mustRun(command: string, args: readonly string[], cwd: string): string {
  const { code, stdout, stderr } = run(command, args, cwd)
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${code}\n${stdout}${stderr}`)
  return stdout
}

/** Puts Node 24 first on the PATH, however the tests were started. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_OPTIONS$|^VITEST/i.test(name))
  const path = [dirname(process.execPath), join(root, 'node_modules', '.bin'), process.env['PATH']].join(delimiter)
  return { ...Object.fromEntries(kept), PATH: path, NO_COLOR: '1' }
}
