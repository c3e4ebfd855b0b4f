import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Builder, revisionOf } from '../../../src/services/functions/build.ts'
import { type Runtime, RUNTIMES } from '../../../src/services/functions/runtimes/catalog.ts'
import { testFolder } from '../../support/test-folder.ts'

const folder = testFolder()

function runtimeOf(name: string): Runtime {
  const found = RUNTIMES.get(name)
  if (found === undefined) throw new Error(`no runtime ${name}`)
  return found
}
const NODE = runtimeOf('plug-node24')
const PYTHON = runtimeOf('plug-python3')

function assetsOf(files: Readonly<Record<string, unknown>>): ReadonlyMap<string, Uint8Array> {
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
  return new Map(Object.entries(files).map(([path, value]) => [path, new TextEncoder().encode(text(value))]))
}

function built(
  builder: Builder,
  owner: string,
  runtime: Runtime,
  assets: ReadonlyMap<string, Uint8Array>,
  lock?: readonly string[],
) {
  const records = [...assets.keys()].toSorted().map((path) => {
    const content = assets.get(path) ?? new Uint8Array()
    return { path, size: content.length, sha256: createHash('sha256').update(content).digest('hex') }
  })
  return builder.build({ owner, runtime, runtimeVersion: '1.0.0', assets, revision: revisionOf(records), lock })
}

function builderOf(name: string): Builder {
  return new Builder({ folder: join(folder, name), environment: { PATH: process.env['PATH'] } })
}

/**
 * Builds with a script in place of Python, which records its arguments and the requirements file, and reports packages.
 */
function pipBuilder(name: string): Builder {
  const bin = join(folder, 'bin')
  const found = (name: string, version: string, digit: string) => ({
    metadata: { name, version },
    download_info: { archive_info: { hash: `sha256=${digit.repeat(64)}` } },
  })
  const report = JSON.stringify({ install: [found('joblib', '1.5.0', 'a'), found('anyio', '4.9.0', 'b')] })
  const script = `#!/bin/sh
echo "$*" > asked
for last; do :; done
mkdir python_modules
cat "$last" > python_modules/given
case "$*" in *--report*) echo '${report}' > .pip-report.json;; esac
`
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'python3'), script, { mode: 0o755 })
  return new Builder({ folder: join(folder, name), environment: { PATH: `${bin}:/usr/bin:/bin` } })
}

describe('a build', () => {
  // Holds FUNCBUILD-1
  it('of equal assets runs once, and its folder is readable to every user', async () => {
    const builder = builderOf('once')
    const assets = assetsOf({ 'index.js': 'export {}', 'lib/a.js': '1' })
    const first = await built(builder, 'acme', NODE, assets)
    const made = statSync(builder.folderOf(first.digest)).ino
    const second = await built(builder, 'acme', NODE, new Map([...assets].toReversed()))
    expect(second.digest).toBe(first.digest)
    expect(statSync(builder.folderOf(first.digest)).ino).toBe(made)
    expect(readFileSync(join(builder.folderOf(first.digest), 'lib/a.js'), 'utf8')).toBe('1')
    expect(statSync(join(builder.folderOf(first.digest), 'lib')).mode & 0o777).toBe(0o755)
    expect(readdirSync(join(folder, 'once'))).toEqual([first.digest])
  })

  // Holds FUNCBUILD-3
  it('differs for other assets, runtimes and tenants', async () => {
    const builder = builderOf('other')
    const assets = assetsOf({ 'index.js': '1', 'main.py': '1' })
    const digests = [
      await built(builder, 'acme', NODE, assets),
      await built(builder, 'acme', PYTHON, assets),
      await built(builder, 'umbrella', NODE, assets),
      await built(builder, 'acme', NODE, assetsOf({ 'index.js': '2' })),
    ].map(({ digest }) => digest)
    expect(new Set(digests).size).toBe(4)
  })

  // Holds FUNCBUILD-1
  it('leaves nothing when it fails', async () => {
    const lock = {
      packages: {
        'node_modules/x': { version: '1.0.0', resolved: 'https://registry.npmjs.org/x/-/x-1.0.0.tgz', integrity: 'y' },
      },
    }
    const assets = assetsOf({ 'index.js': '', 'package.json': { dependencies: { x: '1' } }, 'package-lock.json': lock })
    const without = new Builder({ folder: join(folder, 'failed'), environment: { PATH: '/nowhere' } })
    await expect(built(without, 'acme', NODE, assets)).rejects.toThrow('npm is not installed on this host')
    expect(readdirSync(join(folder, 'failed'))).toEqual([])
  })

  it('removes drafts of interrupted builds before the first build', async () => {
    const draft = join(folder, 'left', '.draft-1')
    mkdirSync(draft, { recursive: true })
    const left = builderOf('left')
    const assets = assetsOf({ 'index.js': '' })
    const { digest } = await built(left, 'acme', NODE, assets)
    expect(readdirSync(join(folder, 'left'))).toEqual([digest])
    mkdirSync(draft)
    await built(left, 'umbrella', NODE, assets)
    // the folder may belong to another running build
    expect(existsSync(draft)).toBe(true)
  })

  const resolved = 'https://registry.npmjs.org/x/-/x-1.0.0.tgz'
  const project = { dependencies: { x: '1.0.0' } }
  const locked = (entry: object): object => ({
    'index.js': '',
    'package.json': project,
    'package-lock.json': { packages: { 'node_modules/x': { version: '1.0.0', ...entry } } },
  })

  // Holds FUNCBUILD-2
  it.each([
    ['of version 1', { lockfileVersion: 1, dependencies: { x: { version: '1.0.0', resolved } } }],
    [
      'of version 1 with packages beside',
      { lockfileVersion: 1, packages: {}, dependencies: { x: { version: '1.0.0' } } },
    ],
    ['without packages', { lockfileVersion: 3 }],
  ])('rejects a lock %s, whose packages have no hashes', async (_, lock) => {
    const assets = assetsOf({ 'index.js': '', 'package.json': project, 'package-lock.json': lock })
    await expect(built(builderOf('old-lock'), 'acme', NODE, assets)).rejects.toThrow(
      'package-lock.json has version 1, or lacks "packages": write it with npm 7 or newer',
    )
  })

  // Holds FUNCBUILD-2
  it('passes only checked requirements to pip, and ignores modules of the assets', async () => {
    const builder = pipBuilder('pip')
    const lines = ['# x \\', '--index-url http://10.0.0.1/', 'six==1.16.0 ; python_version >= "3.8"  # for x', '']
    const assets = assetsOf({ 'main.py': '', 'pip.py': '', 'requirements.txt': lines.join('\n') })
    const made = builder.folderOf((await built(builder, 'acme', PYTHON, assets)).digest)
    expect(readFileSync(join(made, 'python_modules/given'), 'utf8')).toBe('six==1.16.0 ; python_version >= "3.8"\n')
    expect(readFileSync(join(made, 'asked'), 'utf8')).toMatch(/^-I -m pip install .* -r \.requirements\.txt$/m)
  })

  // Holds FUNCBUILD-5
  it('records a lock of the versions that pip found, and a later build installs exactly these', async () => {
    const open = ['joblib >= 1.2, != 1.3.*', 'starlette', 'uvicorn[standard]~=0.30 ; python_version >= "3.8"']
    const assets = assetsOf({ 'main.py': '', 'requirements.txt': open.join('\n') })
    const [first, again] = [pipBuilder('open'), pipBuilder('again')]
    const { digest, lock, log } = await built(first, 'acme', PYTHON, assets)
    const given = (builder: Builder): string =>
      readFileSync(join(builder.folderOf(digest), 'python_modules/given'), 'utf8')
    expect(given(first)).toBe(`${open.join('\n')}\n`)
    expect(lock).toEqual([
      `anyio==4.9.0 --hash=sha256:${'b'.repeat(64)}`,
      `joblib==1.5.0 --hash=sha256:${'a'.repeat(64)}`,
    ])
    expect(log).toContain(`locked ${lock?.[0]}`)
    expect((await built(first, 'acme', PYTHON, assets)).lock).toEqual(lock)
    expect((await built(again, 'acme', PYTHON, assets, lock)).lock).toEqual(lock)
    expect(given(again)).toBe(`${lock?.join('\n')}\n`)
    expect(readFileSync(join(again.folderOf(digest), 'asked'), 'utf8')).toMatch(/ --require-hashes --no-deps /)
  })

  it('can require exact versions', async () => {
    const wants = (text: string) => {
      const builder = new Builder({
        folder: join(folder, 'strict'),
        environment: { PATH: '/nowhere' },
        requirePinned: true,
      })
      return built(builder, 'acme', PYTHON, assetsOf({ 'main.py': '', 'requirements.txt': text }))
    }
    await expect(wants('six>=1')).rejects.toThrow('"six>=1" does not pin a version; write name==1.2.3')
    await expect(wants('six==1.16.0')).rejects.toThrow('is not installed on this host')
  })

  it('does not log packages that the operator has for other programs', async () => {
    const bin = join(folder, 'listing')
    mkdirSync(bin)
    // replaces pip, which would list conflicts with the operator's other packages
    const report = JSON.stringify({ install: [{ metadata: { name: 'six', version: '1.16.0' } }] })
    const script = `#!/bin/sh\nmkdir python_modules\ncase "$*" in *--no-warn-conflicts*) ;; *) echo "secret-tool 1.0 requires six";; esac\necho '${report}' > .pip-report.json\n`
    writeFileSync(join(bin, 'python3'), script, { mode: 0o755 })
    const builder = new Builder({ folder: join(folder, 'listed'), environment: { PATH: `${bin}:/usr/bin:/bin` } })
    const assets = assetsOf({ 'main.py': '', 'requirements.txt': 'six==1.16.0' })
    const { log } = await built(builder, 'acme', PYTHON, assets)
    expect(log.join('\n')).toContain('pip install')
    expect(log.join('\n')).not.toContain('secret-tool')
  })

  // Holds FUNCBUILD-2
  it.each<[string, Runtime, object, RegExp]>([
    ['without its main file', NODE, { 'main.js': '' }, /has a file index\.js/],
    ['without a lock', NODE, { 'index.js': '', 'package.json': project }, /without a lock/],
    ['with a package.json that is a list', NODE, { 'index.js': '', 'package.json': [] }, /not a JSON object/],
    ['with workspaces', NODE, { 'index.js': '', 'package.json': { workspaces: ['a'] } }, /workspaces/],
    ['with a package of a folder', NODE, locked({ resolved: 'file:../../etc', integrity: 'y' }), /does not come from/],
    ['with a package of a link', NODE, locked({ link: true, resolved: '../x' }), /is a link/],
    [
      'with a package of a repository',
      NODE,
      locked({ resolved: 'git+ssh://git@h/x.git', integrity: 'y' }),
      /does not come/,
    ],
    [
      'with a package of another host',
      NODE,
      locked({ resolved: 'https://10.0.0.1/x.tgz', integrity: 'y' }),
      /does not come/,
    ],
    ['with a package without a hash', NODE, locked({ resolved }), /has no integrity/],
    ['with a package of the registry without a hash', NODE, locked({ version: '1.0.0' }), /has no integrity/],
    ['with an address other than text', NODE, locked({ resolved: 7, integrity: 'y' }), /does not come/],
    [
      'with a lock that npm reads before the one that is checked',
      NODE,
      { ...locked({ resolved, integrity: 'y' }), 'npm-shrinkwrap.json': {} },
      /npm-shrinkwrap\.json is not supported/,
    ],
    ['with an address for a version', NODE, locked({ version: 'http://10.0.0.1/x.tgz', integrity: 'y' }), /no version/],
    ['with an address for a name', NODE, locked({ name: 'http://10.0.0.1/x', integrity: 'y' }), /invalid package name/],
    [
      'with a part of itself from elsewhere',
      NODE,
      locked({ inBundle: true, resolved: 'http://10.0.0.1/x.tgz' }),
      /not come/,
    ],
    ['with a bundled part without a hash', NODE, locked({ inBundle: true }), /has no integrity/],
    ['in Python without main.py', PYTHON, { 'plug.json': '' }, /has a file main\.py/],
    [
      'in Python with an option',
      PYTHON,
      { 'main.py': '', 'requirements.txt': '--index-url http://x' },
      /is not accepted/,
    ],
    ['in Python with an address', PYTHON, { 'main.py': '', 'requirements.txt': 'a @ file:///etc' }, /is not accepted/],
    ['in Python with a folder', PYTHON, { 'main.py': '', 'requirements.txt': './lib' }, /is not accepted/],
    ...[
      'a>=1 -e .',
      'a >= -e',
      'a[b] --pre',
      'a==1, -e .',
      'a==1 ; x\u2028--no-binary :all:',
      'a==1 ; x --no-binary :all:',
      'a==1 ; x\t-e .',
    ].map((line): [string, Runtime, object, RegExp] => [
      `in Python with the option in ${JSON.stringify(line)}`,
      PYTHON,
      { 'main.py': '', 'requirements.txt': line },
      /is not accepted/,
    ]),
    ['in Python with a file', PYTHON, { 'main.py': '', 'requirements.txt': '-r /etc/passwd' }, /is not accepted/],
  ])('%s is rejected', async (_, runtime, files, problem) => {
    const assets = assetsOf(files as Readonly<Record<string, unknown>>)
    await expect(built(builderOf('refused'), 'acme', runtime, assets)).rejects.toThrow(problem)
  })
})
