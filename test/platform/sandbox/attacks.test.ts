import { createServer, type Server } from 'node:net'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { messageOf } from '../../../src/kernel/errors.ts'
import { machineTimers } from '../../../src/platform/timers.ts'
import { inspectMachine } from '../../../src/platform/sandbox/inspect-machine.ts'
import type * as Inspected from '../../../src/platform/sandbox/inspect-machine.ts'
import { DEFAULT_LIMITS, type ProcessLimits } from '../../../src/platform/sandbox/limits.ts'
import { processTree } from '../../../src/platform/sandbox/process-tree.ts'
import { ProcessPool } from '../../../src/platform/sandbox/process-pool.ts'
import type { Language, Program } from '../../../src/platform/sandbox/program.ts'
import { some } from '../../support/arbitraries/runs.ts'
import { type Attack, NODE_ATTACKS, PLACES, PYTHON_ATTACKS } from './attacks.ts'

const SECRET = 'the-secret-of-the-host'
/** ms: time limit of attacks that do not end by time */
const PATIENCE = 120_000

const NODE_PROGRAM = `import { createRequire } from 'node:module'
import fs from 'node:fs'
import net from 'node:net'
const require = createRequire(import.meta.url)
const connect = (host, port) => new Promise((ok, no) => net.connect(port, host).on('error', no).on('connect', () => ok('connected')))
export const start = (_, host) => (code) => Object.getPrototypeOf(async () => {}).constructor('fs', 'require', 'connect', 'host', code)(fs, require, connect, host)
`
const PYTHON_PROGRAM = `import asyncio, os, socket
def start(_, host):
  async def handle(code, params):
    space = {'asyncio': asyncio, 'os': os, 'socket': socket, 'host': host}
    exec('async def attack():\\n  ' + code, space)
    return await space['attack']()
  return handle
`

const folder = mkdtempSync(join(tmpdir(), 'attacks-'))
const emptyFolder = join(folder, 'empty')
const own = join(folder, 'program')
const secretFile = join(folder, 'secret.txt')
let reached = 0
let server: Server
let pool: ProcessPool
const lines: string[] = []

beforeAll(async () => {
  process.env['SECRET_OF_THE_HOST'] = SECRET
  mkdirSync(emptyFolder)
  mkdirSync(own)
  writeFileSync(secretFile, SECRET)
  writeFileSync(join(own, 'main.mjs'), NODE_PROGRAM)
  writeFileSync(join(own, 'main.py'), PYTHON_PROGRAM)
  server = createServer((socket) => {
    reached++
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  const machine = await inspectMachine({ confinement: 'confined', emptyFolder, environment: process.env })
  if (machine.interpreters.size < 2) throw new Error(machine.lacks.join('\n'))
  pool = new ProcessPool({
    machine,
    emptyFolder,
    limits: { ...DEFAULT_LIMITS, startMs: PATIENCE, callMs: PATIENCE },
    processes: 4,
    perProgram: 1,
    idleMs: 600_000,
    later: machineTimers.later,
    clock: () => performance.now(),
    answer: (_program, method) =>
      method === 'slow' ? new Promise(() => undefined) : Promise.reject(new Error('there is no such question')),
    log: (_program, { text }) => void lines.push(text),
  })
}, PATIENCE)

afterAll(async () => {
  await pool.close()
  await new Promise((resolve) => server.close(resolve))
  delete process.env['SECRET_OF_THE_HOST']
  rmSync(folder, { recursive: true, force: true })
})

function programOf(language: Language, key: string): Program {
  const module = join(own, language === 'node' ? 'main.mjs' : 'main.py')
  return { key: `${language} ${key}`, owner: key, language, module, readable: [own], argument: {} }
}

async function met(language: Language, { name, code, isFatal, timeMs = PATIENCE }: Attack): Promise<string> {
  const { port } = server.address() as { port: number }
  const real = code
    .replaceAll(PLACES.port, String(port))
    .replaceAll(PLACES.host, String(process.pid))
    .replaceAll(PLACES.file, secretFile)
    .replaceAll(PLACES.folder, own)
  const program = programOf(language, isFatal ? name : 'shared')
  try {
    const value = await pool.call(program, real, {}, { timeMs })
    return JSON.stringify(value) ?? 'nothing'
  } catch (error) {
    return messageOf(error)
  } finally {
    if (isFatal) await pool.release(program.key)
  }
}

describe.each([
  ['node', NODE_ATTACKS],
  ['python', PYTHON_ATTACKS],
] as const)('a program in %s that', (language, attacks) => {
  // Holds SANDPROC-1, SANDPROC-4
  it.each(some(attacks))('$name is stopped by a limit', async (attack) => {
    const outcome = await met(language, attack)
    expect(outcome).toMatch(attack.meets)
    expect(outcome).not.toContain(SECRET)
  })

  it('was attacked by others still runs', async () => {
    expect(await met(language, { name: '', meets: /./, code: 'return 1' })).toBe('1')
    expect(pool.state(`${language} shared`)).toMatchObject({ processes: 1, crashes: 0 })
  })
})

describe('a process that a program in python starts', () => {
  const living = (): number => processTree(process.pid).filter(({ isOver }) => !isOver).length

  // Holds SANDPROC-6
  it('ends with its call if the call started it, and stays if the program itself did', async () => {
    const helped = `import os, time
def start(_, host):
  if os.fork() == 0:
    time.sleep(600)
  def handle(method, params):
    if os.fork() == 0:
      time.sleep(600)
    return 'forked'
  return handle
`
    writeFileSync(join(own, 'helped.py'), helped)
    const before = living()
    const program = { ...programOf('python', 'helped'), module: join(own, 'helped.py') }
    expect(await pool.call(program, 'x', {})).toBe('forked')
    // the program, its supervisor, and its helper
    await expect.poll(living, { timeout: PATIENCE }).toBe(before + 3)
    expect(lines).toContain('1 of its processes outlived their calls and were killed')
    expect(await pool.call(program, 'x', {})).toBe('forked')
    await pool.release(program.key)
    await expect.poll(living, { timeout: PATIENCE }).toBe(before)
  })

  it('is held to the memory limit before the program is ready, too', async () => {
    const greedy = `import os, time
for n in range(6):
  if os.fork() == 0:
    held = b'x' * (90 << 20); time.sleep(600)
time.sleep(600)
`
    writeFileSync(join(own, 'greedy.py'), greedy)
    const program = { ...programOf('python', 'greedy'), module: join(own, 'greedy.py') }
    await expect(pool.call(program, 'x', {})).rejects.toThrow('its limit of 128 MiB of memory in total')
    await pool.release(program.key)
  })
})

it('every limit of a process states how it holds for the processes that it starts', () => {
  const held: Readonly<Record<keyof ProcessLimits, string>> = {
    startMs: 'the group is ended',
    callMs: 'the call is ended, and what it started with it',
    pingMs: 'the group is ended',
    memoryMib: 'each process by the system, all together by ProcessGroup',
    tasks: 'by the system for the user id, which no other process of the machine has',
    openFiles: 'each process by the system, so that all have `tasks` times as many',
    lineBytes: 'one channel, whoever writes to it',
    unansweredBytes: 'one channel, whoever writes to it',
    outputBytes: 'one pipe, whoever writes to it',
    logLines: 'one channel, whoever writes to it',
    calls: 'counted by the host',
    questions: 'counted by the host',
  }
  expect(Object.keys(held).toSorted()).toEqual(Object.keys(DEFAULT_LIMITS).toSorted())
})

describe('the user ids of two hosts on one machine', () => {
  it('come from separate ranges, and those of one host never repeat in succession', async () => {
    const path = '../../../src/platform/sandbox/inspect-machine.ts'
    const hosts = await Promise.all(['a', 'b'].map((host) => import(`${path}?${host}`) as Promise<typeof Inspected>))
    const ranges = hosts.map(({ nextUser }) => {
      const users = [nextUser(), nextUser(), nextUser()]
      expect(new Set(users).size).toBe(process.getuid?.() === 0 ? 3 : 1)
      return Math.floor((users[0] ?? Number.NaN) / 10_000)
    })
    if (process.getuid?.() === 0) expect(ranges[0]).not.toBe(ranges[1])
  })
})

describe('the host', () => {
  it('was never reached, and its secret never leaked', () => {
    expect(NODE_ATTACKS.length + PYTHON_ATTACKS.length).toBeGreaterThanOrEqual(80)
    expect(reached).toBe(0)
    expect(lines.join('\n')).not.toContain(SECRET)
  })
})
