/** Tests scripts of requests in threads: they behave as in the process, but leave the event loop free. */
import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { afterAll, describe, expect, it } from 'vitest'
import { Sandbox } from '../../../src/core/language/script/sandbox.ts'
import { compileScript } from '../../../src/core/language/script/script-source.ts'
import { scriptInterpreter } from '../../../src/host/work/script-interpreter.ts'
import { WorkThreads } from '../../../src/host/work/work-threads.ts'
import { AppError } from '../../../src/kernel/errors.ts'
import { machineTimers } from '../../../src/platform/timers.ts'
import { some } from '../../support/arbitraries/runs.ts'
import { root } from '../../support/repository.ts'
import { mustRun } from '../../support/run-command.ts'
import { ENDLESS_SCRIPTS, FAILING_SCRIPTS } from '../../support/script-attacks.ts'

// scripts must not end by time, which depends on the machine's load
const threads = new WorkThreads({ later: () => () => undefined, onlyCounted: true })
const inThread = new Sandbox(undefined, scriptInterpreter(threads))
const inProcess = new Sandbox()
afterAll(() => threads.close())

const ORDINARY = [
  'return { a: options.streamData.a, now: Date.now(), chance: [Math.random(), Math.random()] }',
  'Math.random()',
  'console.log("a", [1]); console.warn("b"); return { ok: true }',
  'console.log("a", [1]); console.error("b"); null.x',
  'for (let i = 0; i < 1000; i++) console.log("x".repeat(5000)); return {}',
  'throw new Error("no luck")',
  'return Promise.resolve({ later: 1 })',
  '(options, send) => send("wrong")',
  'return { text: "a".repeat(1_100_000) }',
]

/** Returns everything observable about a run: its value, or the code and text of its error, and the log lines. */
async function seen(source: string, sandbox: Sandbox): Promise<unknown> {
  const lines: string[] = []
  const input = { now: 1000, seed: 7, streamData: { a: 1 } }
  try {
    const { code } = compileScript(source)
    const result = await sandbox.runCode(code, input, ({ level, message }) => lines.push(`${level} ${message}`))
    return { value: result.value, lines }
  } catch (error) {
    return error instanceof AppError ? { code: error.code, message: error.message, lines } : error
  }
}

/** Creates threads whose selected timers fire at once, and whose other timers never fire. */
function timersThatFire(which: (ms: number) => boolean, most = 4): WorkThreads {
  return new WorkThreads({
    most,
    later: (ms, work) => {
      let isOff = false
      if (which(ms)) queueMicrotask(() => void (isOff || work()))
      return () => void (isOff = true)
    },
  })
}

describe('a script in a thread', () => {
  it.each(some([...ORDINARY, ...ENDLESS_SCRIPTS, ...FAILING_SCRIPTS]).map((source) => [source]))(
    'has the same result as in this process: %s',
    async (source) => {
      expect(await seen(source, inThread)).toEqual(await seen(source, inProcess))
    },
  )

  it('leaves the loop to others while it is in progress', async () => {
    // starts the thread
    await seen('return 1', inThread)
    const order: string[] = []
    const run = seen('for (;;);', inThread).then(() => order.push('run'))
    for (let turn = 0; turn < 5; turn++) {
      await machineTimers.breathe()
      order.push('turn')
    }
    await run
    expect(order).toEqual(['turn', 'turn', 'turn', 'turn', 'turn', 'run'])
  })

  it('has one of four threads, or waits for one', async () => {
    await using mine = disposable(timersThatFire(() => false))
    const runs = Array.from({ length: 5 }, (_, i) =>
      seen(`return { i: ${i} }`, new Sandbox(undefined, scriptInterpreter(mine.threads))),
    )
    expect(mine.threads.running).toBe(4)
    expect(await Promise.all(runs)).toEqual([0, 1, 2, 3, 4].map((i) => ({ value: { i }, lines: [] })))
    expect(mine.threads.running).toBe(4)
  })

  it('is ended with its thread when it takes too long, and another thread takes what comes', async () => {
    let fires = true
    await using mine = disposable(timersThatFire((ms) => ms === 10_000 && fires))
    const sandbox = new Sandbox(undefined, scriptInterpreter(mine.threads))
    const text = 'the script was stopped, because it takes too many steps'
    expect(await seen('for (;;);', sandbox)).toEqual({ code: 'TOO_LARGE', message: text, lines: [] })
    expect(mine.threads.running).toBe(0)
    fires = false
    expect(await seen('return { well: 1 }', sandbox)).toEqual({ value: { well: 1 }, lines: [] })
  })

  it('leaves no thread behind that has nothing to do', async () => {
    await using mine = disposable(timersThatFire((ms) => ms === 30_000))
    expect(await seen('return { a: 1 }', new Sandbox(undefined, scriptInterpreter(mine.threads)))).toMatchObject({
      value: { a: 1 },
    })
    expect(mine.threads.running).toBe(0)
  })

  it('keeps no process alive when it has ended', () => {
    const program = `
import { WorkThreads } from './src/host/work/work-threads.ts'
const threads = new WorkThreads({ later: () => () => undefined })
const work = { name: 'script', input: { code: 'not code', input: '{}' }, limitMs: 1000 }
console.log(await threads.do(work).catch(({ code }) => code), threads.running)`
    expect(mustRun(process.execPath, ['--input-type=module-typescript', '-e', program], root)).toBe('TOO_LARGE 1\n')
  })

  // Holds WORK-1
  it.each([4, 2])(
    'of a tenant has half of %d threads, a bounded number waits, and others have theirs',
    async (most) => {
      await using mine = disposable(timersThatFire(() => false, most))
      const input = { code: 'not code', input: '{}' }
      const asked = (tenant: string) =>
        mine.threads.do({ tenant, name: 'script', input, limitMs: 1_000 }).catch((error: unknown) => error)
      const begun = Array.from({ length: most / 2 + 64 }, () => asked('acme'))
      expect([mine.threads.running, mine.threads.waiting]).toEqual([most / 2, 64])
      expect(await asked('acme')).toMatchObject({ code: 'RATE_LIMITED', cause: 1 })
      begun.push(asked('umbrella'))
      expect([mine.threads.running, mine.threads.waiting]).toEqual([most / 2 + 1, 64])
      for (const one of await Promise.all(begun)) expect(one).toMatchObject({ code: 'TOO_LARGE' })
    },
  )

  it('is rejected when its host stops, before and after', async () => {
    const mine = timersThatFire(() => false)
    const sandbox = new Sandbox(undefined, scriptInterpreter(mine))
    const runs = [1, 2, 3].map(() => seen('for (;;);', sandbox))
    await mine.close()
    for (const run of [...runs, seen('return 1', sandbox)]) expect(await run).toMatchObject({ code: 'CLOSED' })
    expect(mine.running).toBe(0)
  })
})

function disposable(threads: WorkThreads) {
  return { threads, [Symbol.asyncDispose]: () => threads.close() }
}

/** Returns the niceness of all threads of this process. */
function niceness(): readonly number[] {
  return readdirSync('/proc/self/task').map((thread) => {
    const [, fields = ''] = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') ')
    return Number(fields.split(' ')[16])
  })
}

it.skipIf(process.platform !== 'linux')('threads work behind requests', async () => {
  const own = getPriority()
  await seen('return 1', inThread)
  expect(niceness()).toContain(Math.min(own + 12, 19))
  expect(getPriority()).toBe(own)
})
