/**
 * OpenStack Swift judges our signatures, and our store of contents speaks to it: `apt-get install --no-install-recommends
 * swift-proxy swift-account swift-container swift-object`. It wants the rights of root.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openS3Contents, readS3Place } from '../../../src/services/objects/contents/s3-contents.ts'
import {
  attachment,
  signedAddress,
  signingTime,
  type AddressOrder,
} from '../../../src/services/objects/signing/sign-address.ts'
import { freePort } from '../../support/free-port.ts'
import { until } from '../../support/until.ts'
import { describeContentStore } from '../../contracts/objects/content-store-suite.ts'

const isThere =
  existsSync('/usr/bin/swift-proxy-server') && existsSync('/etc/swift/swift.conf') && process.getuid?.() === 0
if (!isThere) console.warn('swift.test.ts: LEFT OUT, OpenStack Swift is not installed (or this is not root)')

const [KEY, SECRET] = ['test:tester', 'testing']
const SERVERS = ['account', 'container', 'object'] as const
/** Says where each kind's one server listens. */
const WRITE_RINGS = `
import sys
from swift.common.ring import RingBuilder
for kind, port in (each.split('=') for each in sys.argv[2:]):
    builder = RingBuilder(part_power=4, replicas=1, min_part_hours=0)
    builder.add_dev({'region': 1, 'zone': 1, 'ip': '127.0.0.1', 'port': int(port), 'device': 'd1', 'weight': 1})
    builder.rebalance()
    builder.get_ring().save(f'{sys.argv[1]}/{kind}.ring.gz')
`

interface Swift {
  readonly endpoint: string
  stop(): Promise<void>
}

function start(kind: string, conf: string): ChildProcess {
  return spawn('/usr/bin/python3', [`/usr/bin/swift-${kind}-server`, conf], { stdio: 'ignore' })
}

/** Without taking the processor from the servers that start. */
function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.once('error', () => setTimeout(resolve, 50, false)).once('connect', () => socket.destroy())
  })
}

/** Four servers over one folder, each of which listens: the proxy leaves one out for a minute that refused it a few times. */
async function startSwift(): Promise<Swift> {
  const folder = await mkdtemp(join(tmpdir(), 'reflexarc-swift-'))
  await mkdir(join(folder, 'disks', 'd1'), { recursive: true })
  const children: ChildProcess[] = []
  const ports = await Promise.all(SERVERS.map(freePort))
  const rings = SERVERS.map((kind, i) => `${kind}=${ports[i]}`)
  spawnSync('/usr/bin/python3', ['-c', WRITE_RINGS, folder, ...rings], { stdio: 'inherit' })
  for (const [i, kind] of SERVERS.entries()) {
    const conf = join(folder, `${kind}.conf`)
    await writeFile(
      conf,
      `[DEFAULT]\nbind_ip=127.0.0.1\nbind_port=${ports[i]}\ndevices=${folder}/disks\nmount_check=false\nswift_dir=${folder}\nuser=root\nworkers=0\nfallocate_reserve=0\n[pipeline:main]\npipeline=${kind}-server\n[app:${kind}-server]\nuse=egg:swift#${kind}\nrecon_cache_path=${folder}\n`,
    )
    children.push(start(kind, conf))
  }
  const port = await freePort()
  const conf = join(folder, 'proxy.conf')
  await writeFile(
    conf,
    `[DEFAULT]\nbind_ip=127.0.0.1\nbind_port=${port}\nswift_dir=${folder}\nuser=root\nworkers=0\n[pipeline:main]\npipeline=catch_errors cache s3api tempauth copy slo proxy-server\n[filter:catch_errors]\nuse=egg:swift#catch_errors\n[filter:cache]\nuse=egg:swift#memcache\n[filter:s3api]\nuse=egg:swift#s3api\nlocation=us-east-1\n[filter:tempauth]\nuse=egg:swift#tempauth\nuser_test_tester=testing .admin\n[filter:copy]\nuse=egg:swift#copy\n[filter:slo]\nuse=egg:swift#slo\n[app:proxy-server]\nuse=egg:swift#proxy\naccount_autocreate=true\n`,
  )
  children.push(start('proxy', conf))
  await Promise.all([...ports, port].map((one) => until(() => listens(one))))
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: async () => {
      const ended = children.map((child) => new Promise((resolve) => child.once('exit', resolve)))
      for (const child of children) child.kill('SIGKILL')
      await Promise.all(ended)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

describe.skipIf(!isThere)('OpenStack Swift', () => {
  let swift: Swift
  beforeAll(async () => {
    process.env['AWS_ACCESS_KEY_ID'] = KEY
    process.env['AWS_SECRET_ACCESS_KEY'] = SECRET
    swift = await startSwift()
    const client = new S3Client({ endpoint: swift.endpoint, region: 'us-east-1', forcePathStyle: true })
    const made = () =>
      client.send(new CreateBucketCommand({ Bucket: 'judge' })).then(
        () => true,
        () => false,
      )
    await until(made)
    client.destroy()
    const put = address({ method: 'PUT', path: 'first' })
    await until(async () => (await fetch(put, { method: 'PUT', body: '' })).status === 200)
  }, 120_000)
  afterAll(async () => {
    delete process.env['AWS_ACCESS_KEY_ID']
    delete process.env['AWS_SECRET_ACCESS_KEY']
    await swift.stop()
  })

  const address = (order: Pick<AddressOrder, 'method' | 'path'> & Partial<AddressOrder>, secret = SECRET, ago = 0) => {
    const time = signingTime(Date.now() - ago)
    const key = { id: KEY, secret, date: time.slice(0, 8), region: 'us-east-1' }
    return signedAddress({ origin: swift.endpoint, bucket: 'judge', time, expiry: 60, key, ...order })
  }

  it.each(['plain.txt', "a b/ü+(*)!~'%&=?;:@$,.txt", '日本/😀'])(
    'takes %j by an address that was signed here, and gives it back',
    async (path) => {
      const put = address({ method: 'PUT', path, contentType: 'text/csv' })
      expect((await fetch(put, { method: 'PUT', body: path, headers: { 'content-type': 'text/csv' } })).status).toBe(
        200,
      )
      const more = [['response-content-disposition', attachment(path)]] as const
      const read = await fetch(address({ method: 'GET', path, more }))
      expect([read.status, await read.text(), read.headers.get('content-disposition')]).toEqual([
        200,
        path,
        attachment(path),
      ])
      expect((await fetch(address({ method: 'HEAD', path }), { method: 'HEAD' })).status).toBe(200)
    },
  )

  it('refuses what this host refuses too', async () => {
    const path = 'plain.txt'
    const put = address({ method: 'PUT', path, contentType: 'text/csv' })
    const statuses = await Promise.all([
      fetch(address({ method: 'GET', path }, 'wrong')),
      fetch(address({ method: 'GET', path }).replace('plain', 'other')),
      fetch(address({ method: 'GET', path }, SECRET, 3_600_000)),
      fetch(put, { method: 'PUT', body: 'x', headers: { 'content-type': 'text/html' } }),
    ])
    expect(statuses.map(({ status }) => status)).toEqual([403, 403, 403, 403])
  })

  describeContentStore('Swift', async () => {
    const store = await openS3Contents(
      readS3Place(`s3://judge/contents?endpoint=${encodeURIComponent(swift.endpoint)}`),
    )
    return { store, close: () => store.close() }
  })
})
