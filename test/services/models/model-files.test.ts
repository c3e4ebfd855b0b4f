/** Tests zips of models: which files are read, and what is rejected before unpacking. */
import { describe, expect, it } from 'vitest'
import type { Framework } from '../../../src/services/models/frameworks.ts'
import { readZip } from '../../../src/services/models/model-files.ts'
import { type ZipEntry, zipOf, zipOfEntries } from './zip.ts'
import { refusal } from './test-driver.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('the zip of a model', () => {
  it.each([
    ['sklearn', ['model.joblib']],
    ['custom', ['model.dill', 'lib/scaling.py', 'requirements.txt']],
    ['xgboost', ['model.bst']],
    ['pytorch', ['model.pt']],
    ['tensorflow', ['saved_model.pb', 'variables/variables.index', 'assets/words.txt', 'fingerprint.pb']],
  ] as const)('of %s contains its files', async (framework, paths) => {
    const files = await readZip(
      framework,
      zipOf({ 'variables/': '', ...Object.fromEntries(paths.map((path) => [path, path])) }),
    )
    expect([...files].map(([path, content]) => [path, new TextDecoder().decode(content)])).toEqual(
      paths.map((path) => [path, path]),
    )
  })

  const one = (entry: Partial<ZipEntry>): Uint8Array =>
    zipOfEntries([{ path: 'model.bst', content: bytes('x'), ...entry }])
  const large = new Uint8Array(100_000)
  const folders = Array.from({ length: 1_001 }, (_, n) => [`${n}/`, ''])
  it.each<[string, Uint8Array, RegExp, Framework?]>([
    ['that is not a zip', bytes('hello'), /cannot be read/],
    ['without the model', zipOf({}), /model\.bst is missing.*at its root/],
    [
      'with the model in a folder',
      zipOf({ 'm/model.bst': 'x' }),
      /"m\/model\.bst" does not belong.*model\.bst is missing/,
    ],
    ['with another file', zipOf({ 'model.bst': 'x', 'a.py': '' }), /"a\.py" does not belong.*contains only model\.bst/],
    ['of another framework', zipOf({ 'model.joblib': 'x' }), /saved_model\.pb is missing/, 'tensorflow'],
    ['that leads out', one({ path: '../model.bst' }), /invalid relative path/],
    ['with an absolute path', one({ path: '/etc/model.bst' }), /absolute path/],
    ['with a link', one({ mode: 0o120777 }), /is a link/],
    ['with a file twice', zipOfEntries([1, 2].map(() => ({ path: 'model.bst', content: bytes('x') }))), /twice/],
    ['that declares a smaller size', one({ content: large, saidSize: 10 }), /cannot be read/],
    ['that unpacks to too much', one({ saidSize: 300_000_000 }), /unpacks to more than 209715200/],
    ['with too many entries', zipOf(Object.fromEntries(folders) as Record<string, string>), /1000 entries/],
    ['that is too large', new Uint8Array(52_428_801), /larger than/],
  ])('%s is rejected', async (_title, zip, message, framework = 'xgboost') => {
    const code = /more than|1000 entries|larger/.test(message.source) ? 'TOO_LARGE' : 'VALIDATION'
    await expect(readZip(framework, zip)).rejects.toMatchObject(refusal(code, message))
  })

  it('is checked against its declared sizes: a bomb of 100 MB is unpacked no further than it declares', async () => {
    const bomb = new Uint8Array(100_000_000)
    expect((await readZip('xgboost', one({ content: bomb }))).get('model.bst')).toHaveLength(bomb.length)
    const lying = readZip('xgboost', one({ content: bomb, saidSize: 1_000 }))
    await expect(lying).rejects.toMatchObject({ code: 'VALIDATION' })
  })
})
