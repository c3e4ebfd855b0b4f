/**
 * Thread of `watchStalls`: pinned to one core with top priority, it wakes each millisecond and records its lateness. It
 * shares two words with its parent: the lost microseconds, and a stop flag.
 */
import { execFileSync } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { parentPort, workerData } from 'node:worker_threads'
import { LOST, WORD, type Watch } from './stalls.ts'

const STEP_MS = 1
/** ms of normal delay of a timer and a thread switch */
const USUAL = 1

const { words, core } = workerData as Watch

// without permission, or without the two commands (of util-linux), this thread ends with their error
const [thread = ''] = readlinkSync('/proc/thread-self').split('/').slice(-1)
execFileSync('taskset', ['--cpu-list', '--pid', String(core), thread], { stdio: 'ignore' })
execFileSync('chrt', ['--fifo', '--pid', '90', thread], { stdio: 'ignore' })
parentPort?.postMessage('watching', [])
for (let due = performance.now(); Atomics.wait(words, WORD, 0, STEP_MS) === 'timed-out';) {
  const now = performance.now()
  const late = now - due - STEP_MS
  if (late > USUAL) Atomics.add(words, LOST, Math.round(late * 1_000))
  due = now
}
