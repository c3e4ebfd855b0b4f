/** Tests `reflexarc rollout` and `rules push --draft` on a host that listens. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Rollout } from '../../src/services/rules/contract.ts'
import { cli } from '../cli/run-cli.ts'
import { testFolder } from '../support/test-folder.ts'
import { listeningHost, type ListeningHost } from './listening-host.ts'

const template = {
  name: 'hot',
  sensors: [
    {
      label: 'hot',
      name: 'hysteresis',
      resource: '$',
      properties: { value: 'temperature', enter: 90, leave: 70 },
    },
  ],
  actuators: [{ label: 'note', name: 'log', properties: { message: 'hot' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'note', begins: ['On'] }],
  taskDefaults: { type: 'reactive' },
}

let host: ListeningHost
beforeAll(async () => {
  host = await listeningHost()
  await host.client.rules.templates.create(template as never)
  await host.client.rules.tasks.create({ name: 'boiler', template: 'hot', resource: 'boiler-1' })
})
afterAll(() => host.stop())

function run(...args: readonly string[]) {
  const { key, secret } = host.credentials
  return cli([...args, '--url', host.url, '--key', key, '--secret', secret])
}

it('a changed file becomes a draft, a shadow, the live version, and what it was', async () => {
  const folder = testFolder()
  await run('rules', 'pull', folder)
  const file = join(folder, 'templates', 'hot.json')
  writeFileSync(file, readFileSync(file, 'utf8').replace('"enter": 90', '"enter": 80'))
  expect((await run('rules', 'push', folder, '--draft', '--note', 'earlier')).stdout).toContain(
    '* templates/hot: version 2 is a draft',
  )
  expect(await host.client.rules.templates.get('hot')).toMatchObject({ version: 1 })
  expect((await run('rollout', 'show', 'hot')).stderr).toContain('has no roll-outs; start one with')
  expect((await run('rollout', 'start', 'hot', '2')).stdout).toMatch(/^shadow of hot version 2: running/)
  for (const temperature of [60, 85, 60]) await host.client.broker.posting.events('boiler-1', { temperature })
  const { stdout } = await run('rollout', 'show', 'hot')
  expect(stdout).toMatch(/^note +0 +1 +0 +0$/m)
  expect(stdout).toMatch(/^\+ \S+ boiler-1 hot -> note$/m)
  expect((await run('rollout', 'promote', 'hot', '--dry-run')).stdout).toContain('hot loses state, memory')
  const promoted = JSON.parse((await run('rollout', 'promote', 'hot', '--json')).stdout) as Rollout
  expect(promoted).toMatchObject({ status: 'promoted', tasks: { moved: 1 } })
  expect((await run('rollout', 'rollback', 'hot')).stdout).toMatch(/^shadow of hot version 2: rolledBack/)
  expect((await run('rollout', 'list', 'hot')).stdout).toContain('rolledBack')
  expect(await host.client.rules.templates.get('hot')).toMatchObject({ version: 1 })
})

it('a limit that is not JSON is refused with a form that is', async () => {
  const { stderr, code } = await run('rollout', 'start', 'hot', '2', '--stop', 'ten')
  expect([code, stderr]).toEqual([1, expect.stringContaining('write JSON such as {"divergence":10}') as unknown])
})
