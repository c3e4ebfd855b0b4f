/**
 * A thread behind `watchStalls`: stays on one core, goes before all other threads there, wakes each millisecond and notes
 * by how much it came late. It shares two words with its parent: the microseconds that were lost, and one that ends it.
 */
import { execFileSync } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { parentPort, workerData } from 'node:worker_threads'
import { LOST, WORD, type Watch } from './stalls.ts'

const STEP_MS = 1
/** what the timer and a switch of threads may cost; ms */
const USUAL = 1

const { words, core } = workerData as Watch

// Where it is not allowed, or the two commands (of util-linux) are not there, this thread ends with their error.
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
