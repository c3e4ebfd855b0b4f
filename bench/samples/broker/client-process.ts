/** Client in a separate process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { until } from './until.ts'

export interface ClientProcess {
  until(done: () => boolean): Promise<void>
  stop(): Promise<void>
}

/** `file`: in this folder. Its output goes to that of this process. */
export function startClient(file: string, clientArguments: readonly number[]): ClientProcess {
  const args = [join(import.meta.dirname, file), ...clientArguments.map(String)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  const gone = once(child, 'exit')
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
  return {
    async until(done) {
      await until(() => done() || hasEnded())
      if (!done()) throw new Error(`${file} ended before its measurements were complete`)
    },
    async stop() {
      child.kill()
      await gone
    },
  }
}
