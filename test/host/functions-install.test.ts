/**
 * Tests functions with one dependency each, in a whole host: npm and pip install from the test's registries, which the
 * operator's settings name.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packTar } from 'modern-tar'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Client } from '../../src/client.ts'
import { mustRun } from '../support/run-command.ts'
import { listeningHost, type ListeningHost } from './listening-host.ts'
import { testFolder } from '../support/test-folder.ts'

const folder = testFolder()
const asked: string[] = []
let registry: Server
let host: ListeningHost
let client: Client
let integrity = ''
let registryUrl = ''

/** Builds an npm package whose install script would leave a mark if it were run. */
async function npmPackage(): Promise<Buffer> {
  const files = {
    'package/package.json': JSON.stringify({
      name: 'halves',
      version: '1.2.3',
      type: 'module',
      main: 'index.js',
      scripts: { postinstall: `touch ${join(folder, 'a-script-ran')}` },
    }),
    'package/index.js': 'export const half = (value) => value / 2',
  }
  const entries = Object.entries(files).map(([name, body]) => ({
    header: { name, size: body.length, type: 'file' as const, mode: 0o644 },
    body,
  }))
  return gzipSync(await packTar(entries))
}

const WHEEL = 'doubles-2.0.1-py3-none-any.whl'

function wheel(): Buffer {
  const path = join(folder, WHEEL)
  const files = {
    'doubles.py': 'def double(value):\n    return value * 2\n',
    'doubles-2.0.1.dist-info/METADATA': 'Metadata-Version: 2.1\nName: doubles\nVersion: 2.0.1\n',
    'doubles-2.0.1.dist-info/WHEEL': 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    'doubles-2.0.1.dist-info/RECORD': '',
  }
  const code = `import json,sys,zipfile
with zipfile.ZipFile(sys.argv[1], "w") as one:
    for name, text in json.loads(sys.argv[2]).items(): one.writestr(name, text)`
  mustRun('python3', ['-c', code, path, JSON.stringify(files)], folder)
  return readFileSync(path)
}

beforeAll(async () => {
  const tarball = await npmPackage()
  integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
  const files = new Map<string, Buffer | string>([
    ['/npm/halves/-/halves-1.2.3.tgz', tarball],
    ['/simple/doubles/', `<a href="/wheels/${WHEEL}">${WHEEL}</a>`],
    [`/wheels/${WHEEL}`, wheel()],
  ])
  registry = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const found = files.get(path)
    if (found === undefined) return void response.writeHead(404).end('there is no such package')
    response.writeHead(200, { 'content-type': typeof found === 'string' ? 'text/html' : 'application/octet-stream' })
    response.end(found)
  })
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve))
  const { port } = registry.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  registryUrl = url
  const away = 'triples-2.0.1-py3-none-any.whl'
  files.set('/simple/triples/', `<a href="http://localhost:${port}/elsewhere/${away}">${away}</a>`)
  // sets registries the way a host's operator does
  writeFileSync(join(folder, '.npmrc'), `registry=${url}/npm/\n`)
  mkdirSync(join(folder, '.config', 'pip'), { recursive: true })
  writeFileSync(join(folder, '.config', 'pip', 'pip.conf'), `[global]\nindex-url = ${url}/simple/\nretries = 0\n`)
  for (const name of ['HTTPS_PROXY', 'https_proxy']) vi.stubEnv(name, undefined)
  vi.stubEnv('HOME', folder)
  host = await listeningHost()
  client = host.client
})
afterAll(async () => {
  await host.stop()
  registry.close()
  vi.unstubAllEnvs()
})

const manifestOf = (name: string, runtime: string): object => ({
  name,
  version: '1.0.0',
  type: 'sensor',
  runtime,
  interface: { states: ['Seen'], input: [{ name: 'value', dataType: 'double' }] },
})

function nodePlug(name: string, dependency: string, integrity: string) {
  const resolved = `https://registry.npmjs.org/${dependency}/-/${dependency}-1.2.3.tgz`
  return {
    'plug.json': manifestOf(name, 'plug-node24'),
    'package.json': { name: 'p', version: '1.0.0', type: 'module', dependencies: { [dependency]: '1.2.3' } },
    'package-lock.json': {
      name: 'p',
      version: '1.0.0',
      lockfileVersion: 3,
      requires: true,
      packages: {
        '': { name: 'p', version: '1.0.0', dependencies: { [dependency]: '1.2.3' } },
        [`node_modules/${dependency}`]: { version: '1.2.3', resolved, integrity, hasInstallScript: true },
      },
    },
    'index.js': `import { definePlug } from 'reflexarc'
import { half } from 'halves'
export default definePlug({ name: '${name}', version: '1.0.0', kind: 'sensor', states: ['Seen'],
  input: { value: { type: 'double' } },
  execute: ({ properties }) => ({ state: 'Seen', rawData: { result: half(properties.value) } }) })`,
  }
}

async function deployed(files: Readonly<Record<string, object | string>>) {
  const { plugs } = client.functions
  const bytes = Object.entries(files).map(([path, value]): [string, Uint8Array] => [
    path,
    new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value)),
  ])
  const { entity, job } = await plugs.create(new Map(bytes))
  await plugs.jobs.finished(job?.id ?? '')
  const [build] = await plugs.jobs.list({ name: entity.name, version: entity.version, types: ['build'] })
  return {
    version: await plugs.get(entity.name, entity.version),
    build: (await plugs.jobs.get('build', build?.job.id ?? '')).job,
  }
}

describe('a function with a dependency', () => {
  const pythonOf = (name: string, requirements: string) => ({
    'plug.json': manifestOf(name, 'plug-python3'),
    'main.py': `from doubles import double
def execute(properties):
    return ("Seen", {"result": double(properties["value"])})
`,
    'requirements.txt': requirements,
  })

  // Holds FUNCBUILD-5
  it('in Python with an open version has what its first build found, and shows it', async () => {
    const { version, build } = await deployed(pythonOf('opened', 'doubles >= 1, < 3'))
    expect([version.status, version.record['failureReason']]).toEqual(['running', undefined])
    const locked = [expect.stringMatching(/^doubles==2\.0\.1 --hash=sha256:[0-9a-f]{64}$/)]
    expect(version.record['lockedPackages']).toEqual(locked)
    expect(build.result).toMatchObject({
      log: expect.arrayContaining([expect.stringMatching(/^locked doubles==/)]) as unknown,
    })
  })

  // Holds FUNCBUILD-2
  it('in JavaScript has it installed from the locked package, whose script does not run', async () => {
    const { version, build } = await deployed(nodePlug('halving', 'halves', integrity))
    expect(version.record['failureReason']).toBeUndefined()
    expect(version.status).toBe('running')
    expect(JSON.stringify(build.result)).toContain('npm ci --ignore-scripts')
    expect(asked).toContain('/npm/halves/-/halves-1.2.3.tgz')
    const outcome = await client.rules.tools.call('sensors', 'halving', '1.0.0', { properties: { value: 30 } })
    expect(outcome).toMatchObject({ result: true, rawData: { result: 15 } })
    expect(() => readFileSync(join(folder, 'a-script-ran'))).toThrow(/ENOENT/)
  })

  // Holds FUNCBUILD-4
  it('whose registry leads elsewhere is not installed from there, and the job states where', async () => {
    const { version } = await deployed({
      'plug.json': manifestOf('leaving', 'plug-python3'),
      'main.py': 'def execute(properties, *others):\n    return "Seen"\n',
      'requirements.txt': 'triples==2.0.1\n',
    })
    expect(version.status).toBe('failed')
    const { port } = new URL(registryUrl)
    expect(JSON.stringify(version.record['failureReason'])).toContain(
      `it requested localhost:${port}, which is not an allowed registry of this host`,
    )
    expect(asked).not.toContain('/elsewhere/triples-2.0.1-py3-none-any.whl')
  })

  it('that is not what its lock vouches for fails long before a request may take no longer', async () => {
    const other = `sha512-${createHash('sha512').update('other').digest('base64')}`
    const { version } = await deployed(nodePlug('forging', 'halves', other))
    expect(version.status).toBe('failed')
    expect(JSON.stringify(version.record['failureReason'])).toContain('EINTEGRITY')
  })

  it('that the registry does not have fails with what the registry said, in its own record and in its job', async () => {
    // npm would take a package with a known digest from its own cache
    const other = `sha512-${createHash('sha512').update('thirds').digest('base64')}`
    const { version, build } = await deployed(nodePlug('thirding', 'thirds', other))
    expect(version).toMatchObject({
      status: 'failed',
      record: { failureReason: { cause: 'npm did not install the packages: it ended with 1' } },
    })
    expect(JSON.stringify(version.record['failureReason'])).toMatch(/404 .*thirds/)
    expect(build).toMatchObject({ state: 'failed', failedReason: expect.stringContaining('npm did not') as unknown })
  })
})
