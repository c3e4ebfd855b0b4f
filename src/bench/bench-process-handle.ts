/** Starts the processes of a benchmark: a fresh one for each sample. */
import { fork } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '#kernel'
import type { BenchAnswer, BenchRequest, BenchSamples } from './request.ts'

export const ENTRY = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './bench-process.ts' : './bench-process.js', import.meta.url),
)

/** timeout of a sample in ms, beyond its measurement */
const LONGEST_MS = 120_000

export interface ProcessOptions {
  readonly entry?: string
  readonly flags?: readonly string[]
}

export function sampleInProcess<Request extends BenchRequest>(
  request: Request,
  { entry = ENTRY, flags = [] }: ProcessOptions = {},
): Promise<BenchSamples[Request['kind']]> {
  return new Promise((resolve, reject) => {
    // drops flags of this process, such as hooks of a test runner
    const execArgv = ['--expose-gc', ...flags]
    // all processes load the same modules, so they share compiled code
    const env = { NODE_COMPILE_CACHE: join(tmpdir(), 'reflexarc-bench-compiled'), ...process.env }
    const child = fork(entry, [], { env, execArgv, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    let complaint = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-4000)))
    const tooLong = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS)
    let answer: BenchAnswer<Request['kind']> | undefined
    child.on('message', (message) => (answer = message as BenchAnswer<Request['kind']>))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(tooLong)
      if (answer === undefined) {
        const why = signal === 'SIGKILL' ? 'it took too long' : complaint.trim() || `it ended with ${signal ?? code}`
        reject(new AppError('INTERNAL', `a process of the benchmark ended without a sample: ${why}`))
      } else if ('sample' in answer) resolve(answer.sample)
      else reject(new AppError(answer.code, answer.message))
    })
    child.send(request)
  })
}
