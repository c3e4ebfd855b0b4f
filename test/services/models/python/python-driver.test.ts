/** Tests Python models, each run by its own library in a confined process, if the library is installed. */
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { deflateSync, inflateSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/kernel/json.ts'
import { GAVE_UP, type OpenModel } from '../../../../src/services/models/driver.ts'
import { driverSuite } from '../../../contracts/models/driver-suite.ts'
import { until } from '../../../support/until.ts'
import { fixtureOf, installedRuntime, packageOf, testDriver, type TestDriver } from './frameworks.ts'
import { refusal } from '../test-driver.ts'

const [sklearn, xgboost, pytorch, tensorflow, custom] = await Promise.all([
  installedRuntime('sklearn'),
  installedRuntime('xgboost'),
  installedRuntime('pytorch'),
  installedRuntime('tensorflow'),
  installedRuntime('custom'),
])
const tests: TestDriver[] = []
const opened = async (): Promise<TestDriver['driver']> => {
  const made = await testDriver()
  tests.push(made)
  return made.driver
}
afterAll(() => Promise.all(tests.map((one) => one[Symbol.asyncDispose]())))

const WRONG = {
  sklearn: [
    [[1, 2], /\/instances\/\d <- has 2 values \(send 4\)/],
    [[1, 2, 3, 'x'], /could not convert string/],
    [7, /\/instances\/\d <- is 7/],
  ],
  xgboost: [
    [[1, 2], /\/instances\/\d <- has 2 values \(send 4\)/],
    [[1, 2, 3, 'x'], /\/instances\/\d <- has 'x' at 3/],
    [{ e: 1 }, /\/instances\/\d <- has e, which is no feature/],
  ],
  pytorch: [
    [[1, 2], /shape|fit/],
    [[1, 2, 3, 'x'], /\/instances\/\d <- is \[1, 2, 3, 'x'\]/],
  ],
  tensorflow: [
    [{ heat: [1] }, /\/instances\/\d <- has no load/],
    [
      { heat: [1], load: [1], depth: 1 },
      /\/instances\/\d <- has depth, which is no input of the model \(it has heat, load\)/,
    ],
    [{ heat: ['x'], load: [1] }, /\/instances\/\d <- has \['x'\] for heat, which wants float32/],
    [[1, 2], /\/instances\/\d <- is \[1, 2\]; send an object of heat, load/],
  ],
  custom: [[[1, 2], /the instances have several shapes; send lists of one length/]],
} as const

for (const [framework, runtime] of Object.entries({ sklearn, xgboost, pytorch, tensorflow, custom })) {
  if (runtime === undefined) continue
  const { model, record } = fixtureOf(framework as keyof typeof WRONG)
  driverSuite(`python with ${framework}`, {
    driver: opened,
    model,
    instances: record.instances,
    predictions: record.predictions,
    wrong: WRONG[framework as keyof typeof WRONG],
  })
}

describe.skipIf(tensorflow === undefined)('a model of TensorFlow', () => {
  let model: OpenModel
  beforeAll(async () => {
    model = await (await opened()).open(fixtureOf('tensorflow').model)
  })
  const examples = [
    { heat: [1], load: [2] },
    { heat: [0], load: [0] },
  ]

  it('classifies, and regresses', async () => {
    const classes = await model.call({ operation: 'classify', instances: [{ heat: [0], load: [0] }] })
    expect(classes).toEqual([
      [
        ['hot', 0.5],
        ['cold', 0.5],
      ],
    ])
    expect(await model.call({ operation: 'regress', instances: examples })).toEqual([0, 0])
  })

  it('is called by the name of a signature, with texts and bytes', async () => {
    const length = { operation: 'predict', signature: 'length' } as const
    const instances: Json[] = ['four', { b64: Buffer.from('in bytes').toString('base64') }]
    expect(await model.call({ ...length, instances })).toEqual([
      { length: 4, text: 'four' },
      { length: 8, text: 'in bytes' },
    ])
    const bytes: Json = { b64: Buffer.from([255, 0]).toString('base64') }
    expect(await model.call({ ...length, instances: [bytes] })).toEqual([{ length: 2, text: bytes }])
    await expect(model.call({ ...length, signature: 'none', instances })).rejects.toMatchObject(
      refusal('VALIDATION', /there is no 'none' \(the model has .*length/),
    )
  })

  it('reports the inputs of each signature', () => {
    const column = { type: 'number', shape: [1] }
    const inputs = [
      { name: 'heat', ...column },
      { name: 'load', ...column },
    ]
    expect(model.signatures).toEqual(
      expect.arrayContaining([
        { name: 'serving_default', operation: 'predict', inputs },
        { name: 'classify', operation: 'classify', inputs },
        { name: 'regress', operation: 'regress', inputs },
        { name: 'length', operation: 'predict', inputs: [{ name: 'text', type: 'text', shape: [] }] },
      ]),
    )
  })
})

/** Builds a pickle that evaluates an expression when loaded, as an attacker could. */
function pickleOf(expression: string): ReadonlyMap<string, Uint8Array> {
  const text = `cbuiltins\neval\n(S${JSON.stringify(expression)}\ntR.`
  return new Map([['model.joblib', new TextEncoder().encode(text)]])
}
const predicting = (body: string): string => `type('M', (), {'predict': lambda self, rows: ${body}})()`

describe.skipIf(sklearn === undefined)('a model of scikit-learn', () => {
  it('returns probabilities if requested', async () => {
    const { model, record } = fixtureOf('sklearn')
    const { call } = await (await opened()).open(model)
    const values = await call({ operation: 'predict', probabilities: true, instances: record.instances })
    values.flat().forEach((value, at) => expect(value).toBeCloseTo(Number(record.probabilities?.flat()[at]), 9))
  })

  it('saved by another version has a warning, and the running version is reported exactly', async () => {
    const { model, record } = fixtureOf('sklearn')
    const driver = await opened()
    const [version = ''] = (await driver.runtimes()).flatMap((one) => {
      return one.framework === 'sklearn' ? [one.framework_version] : []
    })
    expect(version).toMatch(/^\d+\.\d+\.\d+$/)
    const written = inflateSync(model.files.get('model.joblib') ?? new Uint8Array()).toString('latin1')
    const older = deflateSync(Buffer.from(written.replace(record.version, '0.9.9'), 'latin1'))
    const found = await driver.open(packageOf('sklearn', new Map([['model.joblib', older]]), 'older'))
    expect(found.frameworkVersion).toBe(version)
    expect(found.warnings.join(' ')).toContain(`from version 0.9.9 when using version ${version}`)
  })

  it('that runs commands during loading has no network, no file of the host, and cannot write', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await until(() => server.listening)
    const { port } = server.address() as AddressInfo
    const seen = [
      `'files': __import__('os').path.exists('/etc/passwd')`,
      `'home': __import__('os').path.exists('${process.cwd()}/package.json')`,
      `'network': __import__('socket').socket().connect_ex(('127.0.0.1', ${port}))`,
      `'writes': __import__('os').access('/', 2)`,
      `'shell': __import__('os').path.exists('/bin/sh')`,
      `'secrets': 'PATH' in __import__('os').environ`,
      `'user': __import__('os').getuid() == 0 and __import__('os').access('/dev/urandom', 2)`,
    ]
    const files = pickleOf(predicting(`[{${seen.join(', ')}} for _ in rows]`))
    const model = await (await opened()).open(packageOf('sklearn', files, 'attack'))
    const [found] = await model.call({ operation: 'predict', instances: [[1]] })
    server.close()
    const nothing = { files: false, home: false, writes: false, shell: false, secrets: false, user: false }
    expect(found).toMatchObject(nothing)
    expect((found as { readonly network: number }).network).toBeGreaterThan(0)
  })

  it.each<[string, string, RegExp]>([
    ['ends the process', `__import__('os')._exit(9)`, /could not be loaded: it exited with code 9/],
    ['is not a model', `42`, /int has no method predict/],
    ['raises', `1 / 0`, /ZeroDivisionError/],
  ])('that %s during loading is not served', async (_title, expression, message) => {
    const driver = await opened()
    await expect(driver.open(packageOf('sklearn', pickleOf(expression), message.source))).rejects.toMatchObject(
      refusal('MODEL_FAILED', message),
    )
  })

  it('that kills its process is restarted, abandoned after the third time, and does not affect others', async () => {
    const test = await testDriver({ idleMs: 60_000 })
    tests.push(test)
    const body = `[__import__('os')._exit(9) if rows[0][0] == 9 else float('nan') if rows[0][0] == 7 else 1]`
    const killer = await test.driver.open(packageOf('sklearn', pickleOf(predicting(body)), 'killer'))
    const other = await test.driver.open(fixtureOf('sklearn').model)
    const ask = (value: number): Promise<readonly Json[]> => killer.call({ operation: 'predict', instances: [[value]] })
    await expect(ask(7)).rejects.toMatchObject(refusal('MODEL_FAILED', /gave nan for instance 0/))
    await expect(ask(9)).rejects.toMatchObject(refusal('MODEL_FAILED', /ended/))
    expect(await ask(1)).toEqual([1])
    await expect(ask(9)).rejects.toMatchObject({ code: 'MODEL_FAILED' })
    expect(await ask(1)).toEqual([1])
    await expect(ask(9)).rejects.toMatchObject({ code: 'MODEL_FAILED', cause: GAVE_UP })
    await expect(ask(1)).rejects.toMatchObject({ cause: GAVE_UP })
    const { instances } = fixtureOf('sklearn').record
    expect(await other.call({ operation: 'predict', instances })).toHaveLength(instances.length)
  })

  it('that hangs is aborted at its time limit', async () => {
    const test = await testDriver({ limits: { callMs: 2_000 } as never })
    tests.push(test)
    const body = `[__import__('time').sleep(1000) if rows[0][0] == 9 else 1]`
    const model = await test.driver.open(packageOf('sklearn', pickleOf(predicting(body)), 'hangs'))
    await expect(model.call({ operation: 'predict', instances: [[9]] })).rejects.toMatchObject({
      message: expect.stringMatching(/did not respond within 2000 ms/) as string,
    })
    expect(await model.call({ operation: 'predict', instances: [[1]] })).toEqual([1])
  })

  it('without calls has no process, and starts one for a call', async () => {
    const test = await testDriver({ idleMs: 10 })
    tests.push(test)
    const { model: given, record } = fixtureOf('sklearn')
    const model = await test.driver.open(given)
    await until(() => test.pool?.running === 0)
    expect(await model.call({ operation: 'predict', instances: record.instances })).toHaveLength(
      record.instances.length,
    )
  })
})
