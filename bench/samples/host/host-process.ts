/** Host in a separate process with its own folder, started as by users. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { Connection } from './connection.ts'
import type { ProcessFigures } from './watched-process.ts'

const CLI = join(import.meta.dirname, '../../../src/cli/main.ts')
const QUIETLY = ['--rate-limit', '0', '--log-level', 'error']
const WATCH = join(import.meta.dirname, 'watched-process.ts')

export interface HostProcess {
  /** ms from the start of the process to its ready line */
  readonly readyMs: number
  readonly url: string
  /** of an admin */
  readonly token: string
  /** of an admin of another tenant */
  tokenOf(tenant: string): string
  connect(count: number): Promise<readonly Connection[]>
  /** since the last call; `collect`: after a full collection */
  figures(collect?: 'collect'): Promise<ProcessFigures>
  stop(): Promise<void>
}

/** Rejects with the output of the process when it ends early. `more`: options of `serve`. */
export async function startHostProcess(folder: string, more: readonly string[] = []): Promise<HostProcess> {
  const started = performance.now()
  const child = spawn(
    process.execPath,
    ['--expose-gc', '--import', WATCH, CLI, 'serve', '--port', '0', '--data', folder, '--empty', ...QUIETLY, ...more],
    { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
  )
  const gone = once(child, 'close')
  let output = ''
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const found = /listening on http:\/\/[^:]+:(\d+)/.exec(output)?.[1]
      if (found !== undefined) resolve(Number(found))
    })
    void gone.then(() => reject(new Error(`the host ended before it was ready: ${output}`)))
  })
  const readyMs = performance.now() - started
  const tokenOf = (tenant: string): string =>
    execFileSync(process.execPath, [CLI, 'token', '--data', folder, '--tenant', tenant], { encoding: 'utf8' }).trim()
  // a token avoids the deliberately slow check of a secret once a minute
  const token = tokenOf('default')
  const open: Connection[] = []
  return {
    readyMs,
    url: `http://127.0.0.1:${port}`,
    token,
    tokenOf,
    async connect(count) {
      const made = await Promise.all(Array.from({ length: count }, () => Connection.open(port, `Bearer ${token}`)))
      open.push(...made)
      return made
    },
    async figures(collect) {
      child.send(collect ?? 'figures')
      const [figures] = (await once(child, 'message')) as [ProcessFigures]
      return figures
    },
    async stop() {
      for (const one of open) one.close()
      child.kill('SIGTERM')
      await gone
    },
  }
}
