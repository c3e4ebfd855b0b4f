/**
 * The database of a cluster falls for good while messages stream in, and its synchronous standby is promoted: what was
 * acknowledged is in the state of its task once, also of a tenant at several hosts, and where a rule hears resources of
 * several partitions.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithPostgres } from '../../support/postgres-server.ts'
import { postgresBinaries } from '../../support/start-postgres.ts'
import { ClusterProcesses, type MemberProcess } from './cluster-processes.ts'
import { Senders } from './lanes.ts'
import { PostgresPair } from './postgres-pair.ts'
import { WIDE, WideTenant } from './wide-tenant.ts'

/** acknowledged messages before and after */
const BETWEEN = 40

describeWithPostgres('a cluster whose database fails over', () => {
  let pair: PostgresPair
  let hosts: ClusterProcesses
  beforeAll(async () => {
    pair = await PostgresPair.start(postgresBinaries() ?? '')
    hosts = new ClusterProcesses(pair.url)
  })
  afterAll(async () => {
    await hosts.end()
    await pair.stop()
  })

  it('every acknowledged message is in the state of its task exactly once', async () => {
    await hosts.addKeys([WIDE])
    const asked = new Set<MemberProcess>([await hosts.start(), await hosts.start()])
    await hosts.settled(2)
    const wide = await WideTenant.make(pair.url, hosts, asked)

    const senders = new Senders(hosts, asked, wide.lanes)
    await senders.more(BETWEEN)
    await pair.failOver()
    await senders.more(BETWEEN)
    await senders.end()

    // some is handed to other partitions after it was acknowledged
    await expect.poll(() => wide.problems(), { timeout: 30_000 }).toEqual([])
  })
})
