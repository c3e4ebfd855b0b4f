/** Runs hosts of a cluster in one process, over one store in memory and one folder. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scheduler } from 'node:timers/promises'
import { viewCluster } from '../../../src/cluster/placement/cluster-view.ts'
import { slotOf } from '../../../src/cluster/placement/slots.ts'
import { SLOT_TABLE, SLOT_TABLES } from '../../../src/cluster/placement/cluster-records.ts'
import { ApiKeys, KEY_RECORDS } from '../../../src/host/auth/api-keys.ts'
import { HOST_TENANT } from '../../../src/host/auth/host-tenant.ts'
import type { HostOverrides } from '../../../src/host/compose.ts'
import { readConfig, type Given } from '../../../src/host/config.ts'
import { startHost, type RunningHost } from '../../../src/host/running-host.ts'
import { SERVICES } from '../../../src/host/wiring/service-table.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'

export interface MemoryHosts {
  readonly storage: Storage
  /** Folder of objects, shared by all hosts */
  readonly blobs: string
  readonly hosts: readonly RunningHost[]
  /** Starts a host; resolves when it answers, which may be before it has its share of slots. */
  start(given?: Given, making?: Pick<HostOverrides, 'now' | 'program'>): Promise<RunningHost>
  /** Resolves when the slots are spread evenly over `count` hosts. */
  spread(count: number): Promise<void>
  /** Creates a tenant owned by `host` and returns its name; the tenant's key is its name, with the secret `s`. */
  tenantAt(host: RunningHost): Promise<string>
  stop(): Promise<void>
}

export async function memoryHosts(count: number, given: Given = {}): Promise<MemoryHosts> {
  const folder = mkdtempSync(join(tmpdir(), 'reflexarc-hosts-'))
  const blobs = join(folder, 'objects')
  mkdirSync(blobs)
  const storage = openMemory()
  const own = storage.tenant(HOST_TENANT)
  const hosts: RunningHost[] = []
  let started = 0
  const made: MemoryHosts = {
    storage,
    blobs,
    hosts,
    async start(more = {}, making = {}) {
      const shared = { store: 'postgres://nobody@127.0.0.1/none', blobs, cluster: true, rateLimit: '0' }
      const mine = { port: 0, data: join(folder, `host-${started++}`), key: 'root', secret: 's', tenant: 'root' }
      const all = { ...shared, ...mine, logLevel: 'silent', ...given, ...more }
      const config = readConfig(all, {}, [...SERVICES.keys()])
      const openStorage = async (): Promise<Storage> => ({ ...storage, close: async () => undefined })
      const host = await startHost(config, { write: () => undefined }, { openStorage, hashCost: 2, ...making })
      hosts.push(host)
      return host
    },
    async spread(over) {
      for (;;) {
        const { hosts: shown } = await viewCluster(own)
        const fair = shown.filter(({ slots }) => Math.abs(slots - 256 / over) <= 1)
        if (fair.length === over) return
        await scheduler.wait(10)
      }
    },
    async tenantAt(host) {
      const { hosts: shown } = await viewCluster(own)
      const id = shown.find(({ url }) => url === host.url)?.id
      const owners = (await own.collection(SLOT_TABLES).get(SLOT_TABLE))?.value.owners ?? []
      for (let n = 0; ; n += 1) {
        const tenant = `tenant-${n}`
        if (owners[slotOf(tenant)] !== id) continue
        const keys = new ApiKeys(own.collection(KEY_RECORDS), Date.now, 2)
        await keys.add({ key: tenant, secret: 's', tenant })
        return tenant
      }
    },
    async stop() {
      for (const host of hosts) await host.stop()
      await storage.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  for (let n = 0; n < count; n += 1) await made.start()
  await made.spread(count)
  return made
}
