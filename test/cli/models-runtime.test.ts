/**
 * Runs `reflexarc models runtime add` completely, with packages from a folder instead of PyPI. The packages have names
 * but no content.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { afterAll, expect, it } from 'vitest'
import { PythonRuntimes } from '../../src/services/models/python/python-runtimes.ts'
import { Workspace } from './run-cli.ts'

const place = new Workspace({})
afterAll(() => place[Symbol.dispose]())
const WHEELS = join(place.path, 'wheels')
/** Makes pip ignore this machine's configuration, and use no network. */
const OFFLINE = { PIP_NO_INDEX: '1', PIP_FIND_LINKS: WHEELS, PIP_CONFIG_FILE: '/dev/null' }

/** Writes a package without content, in the form that pip installs. */
function writeWheel(name: string, version: string): void {
  const [file, info] = [`${name}-${version}-py3-none-any.whl`, `${name}-${version}.dist-info`]
  const files = {
    METADATA: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
    WHEEL: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    RECORD: ['METADATA', 'WHEEL', 'RECORD'].map((one) => `${info}/${one},,\n`).join(''),
  }
  const entries = Object.entries(files).map(([path, text]) => [`${info}/${path}`, strToU8(text)])
  mkdirSync(WHEELS, { recursive: true })
  writeFileSync(join(WHEELS, file), zipSync(Object.fromEntries(entries) as Record<string, Uint8Array>))
}

const hasVenv = spawnSync('python3', ['-c', 'import ensurepip, venv']).status === 0
if (!hasVenv) process.stderr.write('*** NOT TESTED: models runtime add: there is no python3 with venv\n')

it.skipIf(!hasVenv)('makes an environment that a host finds, with the versions that it says', async () => {
  const add = () => place.cli(['models', 'runtime', 'add', 'xgboost', '--data', '.'], { env: OFFLINE })
  for (const [name, version] of Object.entries({ xgboost_cpu: '3.2.0', numpy: '2.4.6', scipy: '1.17.1' })) {
    writeWheel(name, version)
  }
  const { code, stdout, stderr } = await add()
  expect(code, stderr).toBe(0)
  expect(stdout).toMatch(
    /^xgboost was installed in \S+model-runtimes\/xgboost: xgboost-cpu==3\.2\.0, numpy==2\.4\.6, scipy==1\.17\.1\n$/,
  )
  const runtimes = new PythonRuntimes(join(place.path, 'model-runtimes'))
  expect(await runtimes.of('xgboost')).toMatchObject({
    name: 'xgboost',
    frameworks: { xgboost: '3.2.0' },
    version: expect.stringMatching(/^3\.\d+\.\d+/) as string,
  })
  expect(await runtimes.of('sklearn')).toBeUndefined()
  expect((await add()).stderr).toMatch(/already exists; delete it/)
})
