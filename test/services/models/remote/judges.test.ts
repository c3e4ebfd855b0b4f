/** Tests independent model servers, each with the model of fixtures/models/sklearn, if installed. */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { RemoteProtocol } from '../../../../src/services/models/contract.ts'
import type { ModelDriver, RemotePackage } from '../../../../src/services/models/driver.ts'
import { remoteDriver } from '../../../../src/services/models/remote/remote-driver.ts'
import { driverSuite } from '../../../contracts/models/driver-suite.ts'
import { until } from '../../../support/until.ts'
import { fixtureOf, FRAMEWORKS_FOLDER } from '../python/frameworks.ts'
import { REMOTE_OPTIONS, remotePackage } from './test-server.ts'
import { testFolder } from '../../../support/test-folder.ts'

const FILE = join(import.meta.dirname, '../../../../fixtures/models/sklearn/model.joblib')
const { record } = fixtureOf('sklearn')
const folder = testFolder()
const started: Started[] = []
afterAll(() => {
  for (const { child } of started) child.kill('SIGKILL')
})

/** Returns the Python that contains a server. If it is missing, prints that clearly and returns undefined. */
function installed(name: string): string | undefined {
  // not in the folder of environments that run model files, which are found by their packages
  const python = join(FRAMEWORKS_FOLDER, '.servers', name, 'bin/python')
  if (existsSync(python)) return python
  process.stderr.write(`*** NOT TESTED: models on ${name}: ${python} does not exist\n`)
  return undefined
}

/** Returns four free ports. */
async function freePorts(): Promise<readonly number[]> {
  const servers = [0, 0, 0, 0].map(() => createServer().listen(0, '127.0.0.1'))
  await until(() => servers.every(({ listening }) => listening))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

interface Started {
  readonly child: ChildProcess
  /** The server's last output, which shows why it ended */
  said: string
}

function start(python: string, args: readonly string[]): Started {
  const child = spawn(python, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  const made = { child, said: '' }
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (made.said = (made.said + text).slice(-2_000)))
  started.push(made)
  return made
}

/** Returns a driver as soon as the server can open the model. */
async function driverOf(server: Started, model: RemotePackage): Promise<ModelDriver> {
  const driver = remoteDriver(REMOTE_OPTIONS)
  await until(async () => {
    if (server.child.exitCode !== null) throw new Error(`the server ended: ${server.said}`)
    return driver.open(model).then(
      async (open) => open.close().then(() => true),
      () => false,
    )
  })
  return driver
}

const mlserver = installed('mlserver')
const kserve = installed('kserve')
const [mlserverPort = 0, grpcPort = 0, metricsPort = 0, kservePort = 0] = await freePorts()
const at = (port: number, protocol: RemoteProtocol, model = 'fixture'): RemotePackage => {
  return remotePackage(protocol, { url: `http://127.0.0.1:${port}`, protocol, model })
}
const judged = { instances: record.instances, predictions: record.predictions, brokenCodes: /^REMOTE_FAILED$/ }

if (mlserver !== undefined) {
  const inputs = [{ name: 'rows', datatype: 'FP64', shape: [-1, 4] }]
  const implementation = 'mlserver_sklearn.SKLearnModel'
  const settings = { name: 'fixture', implementation, inputs, parameters: { uri: FILE } }
  writeFileSync(join(folder, 'model-settings.json'), JSON.stringify(settings))
  const ports = { http_port: mlserverPort, grpc_port: grpcPort, metrics_port: metricsPort, host: '127.0.0.1' }
  writeFileSync(join(folder, 'settings.json'), JSON.stringify({ ...ports, parallel_workers: 0 }))
  const server = start(mlserver, ['-c', 'from mlserver.cli import main; main()', 'start', folder])
  driverSuite('remote with MLServer', {
    ...judged,
    driver: () => driverOf(server, at(mlserverPort, 'v2')),
    model: at(mlserverPort, 'v2'),
    broken: at(mlserverPort, 'v2', 'none'),
    wrong: [
      [[1, 2], /\/instances\/\d <- has 2 values \(send 4\)/],
      [[1, 2, 3, 'x'], /\/instances\/\d <- has "x" where FP64 is required/],
      [7, /\/instances\/\d <- has 1 values \(send 4\)/],
    ],
  })
}

describe.skipIf(mlserver === undefined)('a model of scikit-learn on MLServer', () => {
  it('returns the probabilities of the library, and reports its inputs', async () => {
    const open = await remoteDriver(REMOTE_OPTIONS).open(at(mlserverPort, 'v2'))
    const inputs = [{ name: 'rows', type: 'number', shape: [4] }]
    expect(open.signatures).toEqual([{ operation: 'predict', inputs }])
    const asked = { operation: 'predict', probabilities: true, instances: record.instances } as const
    const values = (await open.call(asked)).flat()
    values.forEach((value, place) => expect(value).toBeCloseTo(Number(record.probabilities?.flat()[place]), 9))
  })
})

if (kserve !== undefined) {
  const server = start(kserve, [join(import.meta.dirname, 'serve_kserve.py'), FILE, String(kservePort)])
  for (const protocol of ['v1', 'v2'] as const) {
    driverSuite(`remote with KServe by ${protocol}`, {
      ...judged,
      driver: () => driverOf(server, at(kservePort, protocol)),
      model: at(kservePort, protocol),
      broken: at(kservePort, protocol, 'none'),
      wrong: [],
    })
  }
}
