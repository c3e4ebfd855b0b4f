import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { messageOf } from '../../../src/kernel/errors.ts'
import { inspectMachine, type Machine } from '../../../src/platform/sandbox/inspect-machine.ts'
import { DEFAULT_LIMITS } from '../../../src/platform/sandbox/limits.ts'
import { type PoolOptions, ProcessPool } from '../../../src/platform/sandbox/process-pool.ts'
import type { Program } from '../../../src/platform/sandbox/program.ts'
import { until } from '../../support/until.ts'

const PROGRAM = `export const start = (argument, host) => {
  if (argument === 'broken') throw new Error('broken from the start')
  const held = []
  return (method, params, call) => {
    if (method === 'exit') process.exit(7)
    if (method === 'loop') for (;;);
    if (method === 'look late') return new Promise((resolve) => held.push(() => {
      console.log('aborted', call.signal.aborted)
      resolve()
    }))
    if (method === 'heap') return import('node:v8').then(({ getHeapStatistics }) => getHeapStatistics().heap_size_limit)
    if (method === 'work') { while (process.cpuUsage().user < 400_000); return process.cpuUsage().user }
    if (method === 'hold') return new Promise((resolve) => held.push(resolve))
    if (method === 'let go') return held.map((resolve) => resolve('held')).length
    if (method === 'wait') return new Promise((resolve) => call.signal.addEventListener('abort', () => resolve('aborted')))
    if (method === 'ask') return host.ask('double', params)
    if (method === 'say') return console.warn(params, { a: [1] })
    if (method === 'fail') throw new TypeError(params)
    return params
  }
}
`

const folder = mkdtempSync(join(tmpdir(), 'pool-'))
const emptyFolder = join(folder, 'empty')
const module = join(folder, 'program', 'main.mjs')
const pools: ProcessPool[] = []
let machine: Machine

beforeAll(async () => {
  mkdirSync(emptyFolder)
  mkdirSync(join(folder, 'program'))
  writeFileSync(module, PROGRAM)
  machine = await inspectMachine({ confinement: 'confined', emptyFolder, environment: process.env })
})
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A pool whose clock the test advances. */
function poolOf(options: Partial<PoolOptions> = {}): {
  readonly pool: ProcessPool
  readonly lines: string[]
  readonly pass: (ms: number) => void
} {
  let now = 0
  const timers = new Map<number, () => void>()
  const lines: string[] = []
  let last = 0
  const due = new Map<number, number>()
  const pool = new ProcessPool({
    machine,
    emptyFolder,
    limits: DEFAULT_LIMITS,
    processes: 4,
    perProgram: 1,
    idleMs: 1_000,
    later: (ms, work) => {
      const id = ++last
      timers.set(id, work)
      due.set(id, now + ms)
      return () => void timers.delete(id)
    },
    clock: () => now,
    answer: (_, method, params) => Promise.resolve(method === 'double' ? Number(params) * 2 : undefined),
    log: (_, { level, text }) => void lines.push(`${level} ${text}`),
    ...options,
  })
  pools.push(pool)
  const pass = (ms: number): void => {
    now += ms
    for (const [id, work] of timers) {
      if ((due.get(id) ?? 0) > now) continue
      timers.delete(id)
      work()
    }
  }
  return { pool, lines, pass }
}

function programOf(key: string, owner = 'a', argument = ''): Program {
  return { key, owner, language: 'node', module, readable: [join(folder, 'program')], argument }
}

describe('a program', () => {
  it('responds, sends requests, fails and logs independently of others', async () => {
    const { pool, lines } = poolOf()
    const program = programOf('p')
    expect(await pool.call(program, 'echo', { a: [1, null] })).toEqual({ a: [1, null] })
    expect(await pool.call(program, 'ask', 21)).toBe(42)
    await expect(pool.call(program, 'fail', 'no such thing')).rejects.toThrow('no such thing')
    await pool.call(program, 'say', 'hot')
    expect(lines).toEqual(['warn hot { a: [ 1 ] }'])
  })

  it('is notified when a call is abandoned', async () => {
    const { pool } = poolOf()
    const abort = new AbortController()
    const answer = pool.call(programOf('p'), 'wait', {}, { signal: abort.signal })
    await pool.call(programOf('p'), 'echo', 1)
    abort.abort()
    expect(await answer).toBe('aborted')
  })

  // Holds SANDPROC-2, SANDPROC-3
  it('that exceeds its time limit is aborted alone: the program is notified, and its other calls continue', async () => {
    const { pool, pass, lines } = poolOf()
    const slow = pool.call(programOf('p'), 'wait', {}, { timeMs: 100 })
    const looking = pool.call(programOf('p'), 'look late', {}, { timeMs: 100 })
    const other = pool.call(programOf('p'), 'hold', {})
    const outcomes = Promise.allSettled([slow, looking])
    await until(() => pool.state('p').open === 3)
    pass(100)
    expect((await outcomes).map((one) => one.status === 'rejected' && String(one.reason))).toEqual([
      'AppError: it did not respond within 100 ms',
      'AppError: it did not respond within 100 ms',
    ])
    // a late answer is not a fault, and the ping was answered before
    await pool.call(programOf('p'), 'let go', 0)
    expect(await other).toBe('held')
    pass(10_000)
    expect(await pool.call(programOf('p'), 'echo', 1)).toBe(1)
    expect(pool.state('p')).toMatchObject({ processes: 1, crashes: 0, open: 0 })
    expect(lines).toEqual(['info aborted true'])
  })

  // Holds SANDPROC-3
  it('that blocks its process ends with all its calls, when a ping is not answered', async () => {
    const { pool, pass } = poolOf()
    const slow = pool.call(programOf('p'), 'loop', {}, { timeMs: 100 })
    const other = pool.call(programOf('p'), 'hold', {})
    const outcomes = Promise.allSettled([slow, other])
    await until(() => pool.state('p').open === 2)
    pass(100)
    expect(pool.state('p').open).toBe(1)
    // a call that arrives meanwhile waits until it is known whether the process accepts it
    const later = pool.call(programOf('p'), 'echo', 1).catch(messageOf)
    expect(pool.state('p').open).toBe(1)
    pass(2_000)
    expect(await later).toContain('it ended once, because it did not respond to a ping')
    expect((await outcomes).map((one) => one.status === 'rejected' && String(one.reason))).toEqual([
      'AppError: it did not respond within 100 ms',
      'AppError: it did not respond to a ping within 2000 ms, after one of its calls did not end within 100 ms',
    ])
  })

  it('has its CPU time counted for its owner, also after it has ended', async () => {
    const { pool, pass } = poolOf()
    await Promise.all([pool.call(programOf('p'), 'work', {}), pool.call(programOf('q', 'b'), 'echo', 1)])
    pass(200)
    const worked = pool.cpuMs('a')
    expect(worked).toBeGreaterThanOrEqual(390)
    await pool.release('p')
    expect(pool.cpuMs('a')).toBeGreaterThanOrEqual(worked)
    expect([pool.cpuMs('b') < 390, pool.cpuMs('c')]).toEqual([true, 0])
  })

  it('of a released owner ends, also during a request, and others stay', async () => {
    const { pool } = poolOf()
    expect(await pool.call(programOf('q', 'b'), 'echo', 1)).toBe(1)
    expect(await pool.call(programOf('p'), 'echo', 1)).toBe(1)
    const asked = pool.call(programOf('p'), 'hold', {})
    asked.catch(() => undefined)
    await pool.releaseOwner('a')
    await expect(asked).rejects.toThrow('the host shuts down')
    expect([pool.has({ key: 'p' }), pool.has({ key: 'q' }), pool.running]).toEqual([false, true, 1])
  })

  it('that exceeds its CPU time is called again when its quota is restored', async () => {
    const { pool, pass } = poolOf()
    // half a minute of it is saved up: 300 ms
    const program = { ...programOf('p'), cpuPerSecond: 0.01 }
    expect(await pool.call(program, 'echo', 1)).toBe(1)
    await pool.call(program, 'work', {})
    pass(200)
    await expect(pool.call(program, 'echo', 1)).rejects.toThrow(/limit of 0\.01 s of CPU time in a second; retry in/)
    expect(await pool.call(programOf('q'), 'echo', 2)).toBe(2)
    pass(60_000)
    expect(await pool.call(program, 'echo', 3)).toBe(3)
  })

  it('has the memory that it declares', async () => {
    const { pool } = poolOf()
    const heapOf = async (program: Program) => Number(await pool.call(program, 'heap', {}))
    const [own, usual] = [await heapOf({ ...programOf('p'), memoryMib: 64 }), await heapOf(programOf('q'))]
    expect(own).toBeLessThan(usual * 0.75)
  })

  it('with too large an input is rejected before it is sent', async () => {
    const { pool } = poolOf({ limits: { ...DEFAULT_LIMITS, lineBytes: 1_000 } })
    await expect(pool.call(programOf('p'), 'echo', 'x'.repeat(1_000))).rejects.toMatchObject({ code: 'TOO_LARGE' })
    expect(await pool.call(programOf('p'), 'echo', 1)).toBe(1)
  })
})

describe('the pool', () => {
  // Holds PROCPOOL-1, PROCPOOL-2
  it('evicts idle processes for new ones, and queues calls when all are busy', async () => {
    const { pool, pass } = poolOf({ processes: 2 })
    await pool.call(programOf('p'), 'echo', 1)
    pass(1)
    await pool.call(programOf('q', 'b'), 'echo', 1)
    pass(1)
    expect(await pool.call(programOf('r', 'c'), 'echo', 'third')).toBe('third')
    expect([pool.running, pool.state('p').processes, pool.state('q').processes]).toEqual([2, 0, 1])

    const held = [pool.call(programOf('q', 'b'), 'hold', 0), pool.call(programOf('r', 'c'), 'hold', 0)]
    await until(() => pool.state('q').open + pool.state('r').open === 2)
    const waiting = pool.call(programOf('p'), 'echo', 'at last')
    expect(pool.running).toBe(2)
    await pool.call(programOf('q', 'b'), 'let go', 0)
    expect(await waiting).toBe('at last')
    expect(pool.running).toBe(2)
    await pool.call(programOf('r', 'c'), 'let go', 0)
    expect(await Promise.all(held)).toEqual(['held', 'held'])
  })

  it('assigns each free slot to a queued call', async () => {
    const { pool } = poolOf({ processes: 1, limits: { ...DEFAULT_LIMITS, calls: 2 } })
    const busy = ['first', 'second'].map(() => {
      const stop = new AbortController()
      return { stop, answer: pool.call(programOf('p'), 'wait', {}, { signal: stop.signal }) }
    })
    await until(() => pool.state('p').open === 2)
    const waiting = pool.call(programOf('p'), 'echo', 'third')
    busy[0]?.stop.abort()
    expect(await waiting).toBe('third')
    expect(pool.state('p').open).toBe(1)
    busy[1]?.stop.abort()
    await Promise.all(busy.map(({ answer }) => answer))
  })

  it('starts a second process of a program that falls behind, and not for many calls at once', async () => {
    const { pool, pass } = poolOf({ perProgram: 2 })
    const program = programOf('p')
    const held = [pool.call(program, 'hold', 0)]
    await until(() => pool.state('p').open === 1)
    for (let n = 1; n < 20; n += 1) held.push(pool.call(program, 'hold', 0))
    // they end with the pool
    const over = Promise.allSettled(held)
    expect(pool.state('p')).toMatchObject({ processes: 1, open: 20 })
    pass(100)
    expect(await pool.call(program, 'echo', 'by another one')).toBe('by another one')
    expect(pool.state('p').processes).toBe(2)
    await pool.close()
    await over
  })

  it('assigns a process no more concurrent calls than its limit, at any speed', async () => {
    const { pool } = poolOf({ limits: { ...DEFAULT_LIMITS, calls: 2 } })
    const stops = [new AbortController(), new AbortController()]
    const busy = stops.map(({ signal }) => pool.call(programOf('p'), 'wait', {}, { signal }))
    await until(() => pool.state('p').open === 2)
    const third = pool.call(programOf('p'), 'echo', 'third')
    expect(pool.state('p').open).toBe(2)
    for (const stop of stops) stop.abort()
    expect(await third).toBe('third')
    await Promise.all(busy)
  })

  it('does not send a call whose caller gave up while it was queued', async () => {
    const { pool, lines } = poolOf({ processes: 1, limits: { ...DEFAULT_LIMITS, calls: 1 } })
    const [busy, gone] = [new AbortController(), new AbortController()]
    const first = pool.call(programOf('p'), 'wait', {}, { signal: busy.signal })
    await until(() => pool.state('p').open === 1)
    const second = pool.call(programOf('p'), 'say', 'called', { signal: gone.signal })
    gone.abort()
    busy.abort()
    await expect(second).rejects.toThrow('the caller cancelled the call')
    await first
    expect(lines).toEqual([])
  })

  // Holds PROCPOOL-1
  it('assigns an owner at most half of the processes while all are busy', async () => {
    const { pool, pass } = poolOf({ processes: 4 })
    const held = ['p', 'q'].map((key) => pool.call(programOf(key), 'hold', 0))
    await until(() => pool.state('p').open + pool.state('q').open === 2)
    // Holds PROCPOOL-5
    const third = pool.call(programOf('r'), 'echo', 0)
    const outcome = third.catch(messageOf)
    expect(await pool.call(programOf('x', 'b'), 'echo', 'other')).toBe('other')
    pass(5_000)
    expect(await outcome).toContain('all processes for functions of this host are busy')
    await pool.call(programOf('p'), 'let go', 0)
    await pool.call(programOf('q'), 'let go', 0)
    await Promise.all(held)
  })

  // Holds PROCPOOL-3
  it('delays the restart of a crashing program, longer each time, and reports why', async () => {
    const { pool, pass } = poolOf({ idleMs: 1e9 })
    const program = programOf('p')
    await expect(pool.call(program, 'exit', 0)).rejects.toThrow('it exited with code 7')
    await until(() => pool.state('p').processes === 0)
    expect(pool.state('p')).toMatchObject({ crashes: 1, startsIn: 100, lastEnd: 'it exited with code 7' })
    await expect(pool.call(program, 'echo', 1)).rejects.toThrow(
      'it ended once, because it exited with code 7; retry in',
    )
    pass(100)
    await expect(pool.call(program, 'exit', 0)).rejects.toThrow('it exited with code 7')
    await until(() => pool.state('p').processes === 0)
    expect(pool.state('p')).toMatchObject({ crashes: 2, startsIn: 200 })
    pass(200)
    expect(await pool.call(program, 'echo', 1)).toBe(1)
    expect(pool.state('p').crashes).toBe(0)
    await expect(pool.call(program, 'exit', 0)).rejects.toThrow('it exited with code 7')
    await until(() => pool.state('p').processes === 0)
    expect(pool.state('p')).toMatchObject({ crashes: 1, startsIn: 100 })
  })

  it('reports why a program did not start', async () => {
    const { pool } = poolOf()
    const started = pool.call(programOf('p', 'a', 'broken'), 'echo', 1)
    await expect(started).rejects.toThrow('it did not start: broken from the start')
  })

  // Holds PROCPOOL-4
  it('ends processes without calls', async () => {
    const { pool, pass } = poolOf()
    await pool.call(programOf('p'), 'echo', 1)
    pass(600)
    expect(pool.running).toBe(1)
    pass(1_200)
    await until(() => pool.running === 0)
    expect(pool.state('p')).toMatchObject({ processes: 0, crashes: 0 })
    expect(await pool.call(programOf('p'), 'echo', 2)).toBe(2)
  })

  it('rejects everything once it is closed', async () => {
    const { pool } = poolOf()
    const held = pool.call(programOf('p'), 'hold', 1)
    const outcome = held.catch(messageOf)
    await until(() => pool.state('p').open === 1)
    await pool.close()
    expect(await outcome).toBe('the host shuts down')
    await expect(pool.call(programOf('p'), 'echo', 1)).rejects.toMatchObject({ code: 'CLOSED' })
    expect(pool.running).toBe(0)
  })
})
