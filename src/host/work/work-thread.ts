/** Runs heavy work in a thread: one task at a time, started only by messages. */
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads'
import { AppError, errorOf, failureOf } from '#kernel'
import { workInBackground } from '#platform'
import { ownBuffers, type FromThread, type ToThread, type WorkThreadData } from './work-messages.ts'
import type { CallingThread, WorkName } from './work-inputs.ts'
import { workKinds } from './work-kinds.ts'

interface Due {
  resolve(value: unknown): void
  reject(error: Error): void
}

const port = portOf(parentPort)
const data = workerData as WorkThreadData
const replies = new Int32Array(data.replies)
const kinds = workKinds(data)
const due = new Map<number, Due>()
let lastId = 0
let run = 0
let abort = new AbortController()

const say = (said: FromThread): void => port.postMessage(said, said.kind === 'answer' ? ownBuffers(said.value) : [])

function asking(of: number): CallingThread {
  const send = (target: string, method: string, args: readonly unknown[], atOnce: boolean): number => {
    const id = ++lastId
    say({ kind: 'ask', run: of, id, asked: { port: target, method, args, atOnce } })
    return id
  }
  return {
    later: (target, method, args, signal) =>
      new Promise((resolve, reject) => {
        const id = send(target, method, args, false)
        due.set(id, { resolve, reject })
        signal?.addEventListener('abort', () => say({ kind: 'abandon', id }), { once: true })
      }),
    atOnce: (target, method, args) => {
      const id = send(target, method, args, true)
      let settled: { readonly value: unknown } | { readonly error: Error } | undefined
      due.set(id, {
        resolve: (value) => (settled = { value }),
        reject: (error) => (settled = { error }),
      })
      for (;;) {
        const seen = Atomics.load(replies, 0)
        for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
          take(next.message as ToThread)
        }
        if (settled === undefined) Atomics.wait(replies, 0, seen)
        else if ('error' in settled) throw settled.error
        else return settled.value
      }
    },
  }
}

function take(message: ToThread): void {
  switch (message.kind) {
    case 'begin':
      run = message.run
      abort = new AbortController()
      void work(message).then(say)
      return
    case 'abort':
      if (message.run === run) abort.abort(new AppError('CLOSED', 'the work was cancelled'))
      return
    case 'reply':
      due.get(message.id)?.resolve(message.value)
      due.delete(message.id)
      return
    case 'refused':
      due.get(message.id)?.reject(errorOf(message.failure))
      due.delete(message.id)
  }
}

async function work({ name, input, run: of }: ToThread & { kind: 'begin' }): Promise<FromThread> {
  const before = cpuMs()
  try {
    const does = await kinds(name as WorkName)
    const value = await does(input, asking(of), abort.signal)
    return { kind: 'answer', value, cpuMs: cpuMs() - before }
  } catch (error) {
    return { kind: 'failure', failure: failureOf(error), cpuMs: cpuMs() - before }
  }
}

function portOf(given: typeof parentPort): MessagePort {
  if (given === null) throw new Error('this file is the entry of a worker thread')
  return given
}

/** Returns the CPU time of this thread in ms, or wall time if Node does not report CPU time. */
function cpuMs(): number {
  if (typeof process.threadCpuUsage !== 'function') return performance.now()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

// requests of other tenants have priority
workInBackground(12)
port.on('message', take)
say({ kind: 'ready' })
