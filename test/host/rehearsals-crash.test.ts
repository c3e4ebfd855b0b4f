/** Kills a host in the middle of a rehearsal. */
import { expect, it } from 'vitest'
import type { Rehearsal } from '../../src/services/rules/contract.ts'
import { crashingHosts, type HostProcess } from './host-process.ts'

const hosts = crashingHosts()

// more instants than any host reaches
const ENDLESS = {
  rule: {
    sensors: [{ label: 'hot', name: 'hysteresis', resource: '$', properties: { value: 't', enter: 90, leave: 80 } }],
    task: { type: 'periodic', frequency: 1 },
  },
  resources: ['boiler'],
  source: { from: '-3650d' },
}

async function asked(host: HostProcess, method: string, path: string, body?: object): Promise<unknown> {
  const headers = { ...host.headers, ...(body && { 'content-type': 'application/json' }) }
  const answer = await fetch(host.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  return answer.json()
}

// Holds REHEARSE-3
it('reports the rehearsal as interrupted after the next start', async () => {
  const host = await hosts.start()
  await asked(host, 'POST', '/resources/boiler/events', { t: 95 })
  const { id } = (await asked(host, 'POST', '/api/rehearsals', ENDLESS)) as { readonly id: string }
  expect(await asked(host, 'GET', `/api/rehearsals/${id}`)).toMatchObject({ status: 'running' })
  await host.kill()
  const again = await hosts.start()
  const found = (await asked(again, 'GET', `/api/rehearsals/${id}`)) as Rehearsal
  expect(found).toMatchObject({ status: 'interrupted', error: expect.stringContaining('send it again') as unknown })
})
