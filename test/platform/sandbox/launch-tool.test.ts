// Holds FUNCBUILD-4
import { execFile, execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closedNetworkProblem, PROXY } from '../../../src/platform/sandbox/closed-network.ts'
import { inspectMachine, type Machine } from '../../../src/platform/sandbox/inspect-machine.ts'
import { confinedTools, type ToolLaunch } from '../../../src/platform/sandbox/launch-tool.ts'

const base = mkdtempSync(join(tmpdir(), 'launch-tool-'))
const [emptyFolder, folder, home, bin] = ['empty', 'folder', 'home', 'npm/bin'].map((name) => join(base, name)) as [
  string,
  string,
  string,
  string,
]
const secret = join(base, 'secret')
let machine: Machine
beforeAll(async () => {
  for (const one of [emptyFolder, folder, home, bin]) mkdirSync(one, { recursive: true })
  chmodSync(base, 0o755)
  writeFileSync(secret, 'of the host')
  symlinkSync(join(bin, 'npm-cli.js'), join(bin, 'npm'))
  machine = await inspectMachine({ confinement: 'confined', emptyFolder, environment: process.env })
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

/** Returns the output of a tool that runs this code in place of npm. */
function told(code: string): unknown {
  writeFileSync(
    join(bin, 'npm-cli.js'),
    `const fs = require('node:fs'); const tried = (work) => { try { return work() } catch (error) { return error.code } }
process.stdout.write(JSON.stringify(${code}))`,
  )
  const launch = confinedTools({ machine, emptyFolder, environment: { PATH: bin } })({
    tool: 'npm',
    args: ['ci'],
    folder,
    home,
    readable: [],
  })
  const { command, args, user } = launch as ToolLaunch
  if (user !== undefined) for (const one of [folder, home]) chownSync(one, user, user)
  return JSON.parse(
    execFileSync(command, args, { env: { PATH: process.env['PATH'] ?? '', HOME: home }, encoding: 'utf8' }),
  )
}

const isConfining = existsSync('/usr/bin/unshare') && process.platform === 'linux'

describe.skipIf(!isConfining)('a tool that installs packages', () => {
  it.each<[string, string, unknown]>([
    ['works in its folder', `process.cwd()`, folder],
    ['is given its arguments', `process.argv.slice(2)`, ['ci']],
    [
      'sees nothing of the host beside its own',
      `[${JSON.stringify(secret)}, '/etc/passwd', '/root', '/home', '/proc/self', '/tmp/x'].map((path) => fs.existsSync(path))`,
      [false, false, false, false, false, false],
    ],
    ['has a view that it cannot write to', `tried(() => fs.writeFileSync('/x', ''))`, expect.stringMatching(/^E/)],
    ['cannot change itself', `tried(() => fs.writeFileSync(__filename, ''))`, expect.stringMatching(/^E(ROFS|ACCES)/)],
    ['has its own home folder', `tried(() => fs.writeFileSync(process.env.HOME + '/x', '1')) ?? 'written'`, 'written'],
    ['looks names up as the host does', `fs.existsSync('/etc/hosts')`, existsSync('/etc/hosts')],
  ])('%s', (_, code, answer) => {
    expect(told(code)).toEqual(answer)
  })

  it('writes to the given path, for the caller', () => {
    told(`tried(() => fs.writeFileSync('made', '7')) ?? 'written'`)
    expect(readFileSync(join(folder, 'made'), 'utf8')).toBe('7')
  })

  it('shares the network of the machine unless it has a socket', () => {
    // a separate namespace would have no address at all
    expect(told(`Object.keys(require('node:os').networkInterfaces())`)).toContain('lo')
  })

  it('with a socket reaches nothing else of the network', async () => {
    expect(await closedNetworkProblem(machine)).toBeUndefined()
    const [place, other] = [join(base, 'way'), join(base, 'other')]
    const servers = [createServer((one) => one.end('by the socket')), createServer(), createServer()]
    const [way, hidden, open] = servers as [Server, Server, Server]
    await Promise.all([
      new Promise<void>((resolve) => way.listen(place, resolve)),
      new Promise<void>((resolve) => hidden.listen(other, resolve)),
      new Promise<void>((resolve) => open.listen(0, '127.0.0.1', resolve)),
    ])
    const { port } = open.address() as AddressInfo
    chmodSync(place, 0o777)
    writeFileSync(
      join(bin, 'npm-cli.js'),
      `const net = require('node:net')
const say = (where) => new Promise((resolve) => {
  const one = net.connect(where, () => undefined)
  one.on('data', (bytes) => resolve(String(bytes)))
  one.on('error', (error) => resolve(error.code))
})
const places = [{ port: ${new URL(PROXY).port} }, { port: ${port} }, { host: '1.1.1.1', port: 443 }, { path: ${JSON.stringify(other)} }]
Promise.all(places.map(say)).then((told) => {
  const names = Object.keys(require('node:os').networkInterfaces())
  process.stdout.write(JSON.stringify([names, told]), () => process.exit(7))
})`,
    )
    const launch = confinedTools({ machine, emptyFolder, environment: { PATH: bin } })
    const made = launch({ tool: 'npm', args: ['ci'], folder, home, readable: [], socket: place }) as ToolLaunch
    if (made.user !== undefined) for (const one of [folder, home]) chownSync(one, made.user, made.user)
    const [code, output] = await new Promise<readonly [unknown, string]>((resolve) => {
      execFile(made.command, made.args, { env: { HOME: home } }, (error, out) => resolve([error?.code, out]))
    })
    for (const server of servers) server.close()
    expect(code).toBe(7)
    expect(JSON.parse(output)).toEqual([['lo'], ['by the socket', 'ECONNREFUSED', 'ENETUNREACH', 'ENOENT']])
  })

  it('is reported as missing when it is not installed', () => {
    const launch = confinedTools({ machine, emptyFolder, environment: { PATH: '/nowhere' } })
    expect(launch({ tool: 'npm', args: [], folder, home, readable: [] })).toBe('is not installed on this host')
    const without = confinedTools({
      machine: { ...machine, interpreters: new Map() },
      emptyFolder,
      environment: { PATH: bin },
    })
    for (const tool of ['npm', 'pip'] as const) {
      expect(without({ tool, args: [], folder, home, readable: [] })).toMatch(/^is disabled on this host/)
    }
  })
})
