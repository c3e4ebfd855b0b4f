/** Tests `reflexarc rules` on a host that listens: documents become files and return, and no change is overwritten. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { cli } from '../cli/run-cli.ts'
import { RulesFolder } from '../../src/cli/rule-files/folder.ts'
import { compare } from '../../src/cli/rule-files/plan.ts'
import { listeningHost, type ListeningHost } from './listening-host.ts'

const hosts: ListeningHost[] = []
const folders: string[] = []
afterAll(async () => {
  await Promise.all(hosts.map((host) => host.stop()))
  for (const folder of folders) rmSync(folder, { recursive: true })
})

async function newHost(): Promise<ListeningHost> {
  const host = await listeningHost()
  hosts.push(host)
  return host
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rules-'))
  folders.push(folder)
  return folder
}

const template = {
  name: 'hot',
  sensors: [
    { label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 't', threshold: 90 } },
  ],
  actuators: [{ label: 'note', name: 'log', properties: { message: 'hot' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'note', statesTrigger: ['Above'] }],
  taskDefaults: { type: 'reactive' },
}
const { name: _name, taskDefaults, ...graph } = template

async function fill({ client }: ListeningHost): Promise<void> {
  await client.rules.templates.create(template as never)
  await client.rules.tasks.create({ name: 'of the template: a/b', template: 'hot', resource: 'boiler-1' })
  await client.rules.tasks.create({ ...graph, task: { ...taskDefaults, name: 'alone', resource: 'boiler-2' } } as never)
  await client.resources.types.create({ id: 'boiler', name: 'Boiler', version: 'MK2', user: 'works' })
  const draft = { ...template, name: 'proposed' }
  await client.rules.templates.create(draft as never, { draft: true })
  await client.converter.put('raw', { type: 'velocity', template: '[]' })
  await client.queries.stored.create({ query: { resource: 'boiler-1', metric: 't', from: '-P1D' } }, 'heat')
}

let host: ListeningHost
let folder: string
beforeEach(async () => {
  host = await newHost()
  folder = newFolder()
  await fill(host)
})

function rules(action: string, options: readonly string[] = [], at: ListeningHost = host) {
  const { key, secret } = at.credentials
  return cli(['rules', action, folder, ...options, '--url', at.url, '--key', key, '--secret', secret])
}
const edit = (path: string, change: (text: string) => string): void =>
  writeFileSync(join(folder, path), change(readFileSync(join(folder, path), 'utf8')))
const lower = (text: string): string => text.replace('"threshold": 90', '"threshold": 80')

describe('reflexarc rules', () => {
  it('keeps calendars, contacts, policies and maintenance windows as files', async () => {
    const { calendars, notification, maintenance } = host.client
    await calendars.put('duty', { zone: 'UTC', shifts: [{ name: 'day', from: '08:00', to: '20:00', onCall: ['ann'] }] })
    await notification.contacts.put('ann', { channels: [{ type: 'email', to: ['ann@example.com'] }] })
    await notification.policies.put('all', { onCall: 'duty' })
    await maintenance.put('w', { effect: 'suppress', select: { types: ['HOT'] }, until: '2090-01-01T00:00:00Z' })
    expect(await rules('pull')).toMatchObject({ code: 0, stderr: '' })
    const other = await newHost()
    expect(await rules('push', [], other)).toMatchObject({ code: 0, stderr: '' })
    expect(await other.client.calendars.get('duty')).toMatchObject({ zone: 'UTC' })
    expect(await other.client.notification.policies.get('all')).toMatchObject({ onCall: 'duty', warnings: [] })
    expect(await other.client.notification.contacts.get('ann')).toMatchObject({ channels: [{ type: 'email' }] })
    expect(await other.client.maintenance.get('w')).toMatchObject({ effect: 'suppress', state: 'active' })
    expect(await rules('diff', [], other)).toMatchObject({ code: 0 })
  })

  it('keeps how long data is kept as a file, which a push with --prune removes', async () => {
    await host.client.retention.setRules({ rules: [{ data: 'samples', keep: 'P90D' }] })
    expect(await rules('pull')).toMatchObject({ code: 0, stderr: '' })
    const file = 'retention/retention.json'
    edit(file, (text) => text.replace('P90D', 'P30D'))
    const dry = await rules('push', ['--dry-run'])
    expect(dry.stdout).toContain('P30D')
    expect(await rules('push')).toMatchObject({ code: 0, stderr: '' })
    expect((await host.client.retention.rules()).rules).toEqual([{ data: 'samples', keep: 'P30D' }])
    edit(file, (text) => text.replace('"retention"', '"other"'))
    const rejected = await rules('push')
    expect(rejected.code).not.toBe(0)
    expect(`${rejected.stdout}${rejected.stderr}`).toContain('"other" is not "retention", the only document')
    rmSync(join(folder, file))
    expect(await rules('push', ['--prune'])).toMatchObject({ code: 0, stderr: '' })
    expect((await host.client.retention.rules()).rules).toEqual([])
  })

  it('writes one readable file for each document, and a pull after a push changes nothing', async () => {
    expect(await rules('pull')).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('6 changed') as unknown,
    })
    const files = readdirSync(folder, { recursive: true }).map(String)
    expect(files.filter((name) => name.endsWith('.json')).toSorted()).toEqual([
      '.reflexarc.json',
      'converters/raw.json',
      'queries/heat.json',
      'tasks/alone.json',
      'tasks/of the template%3A a%2Fb.json',
      'templates/hot.json',
      'types/boiler.json',
    ])
    const type = { id: 'boiler', name: 'Boiler', version: 'MK2', user: 'works' }
    expect(JSON.parse(readFileSync(join(folder, 'types/boiler.json'), 'utf8'))).toEqual(type)
    expect(JSON.parse(readFileSync(join(folder, 'templates/hot.json'), 'utf8'))).toEqual({
      ...template,
      tags: {},
      relations: [],
      notes: [],
    })
    for (const action of ['push', 'pull', 'diff']) {
      expect((await rules(action)).stdout, action).toMatch(/^0 (?:changed|differ), 6 equal\n$/)
    }
  })

  it('brings all documents to an empty host, where a second push finds them equal', async () => {
    await rules('pull')
    const other = await newHost()
    expect(await rules('push', [], other)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('6 changed') as unknown,
    })
    expect((await rules('push', [], other)).stdout).toBe('0 changed, 6 equal\n')
    const { values } = await other.client.rules.tasks.list({ where: {}, hits: 10, startIndex: 0 })
    expect(new Map(values.map(({ name, status }) => [name, status]))).toEqual(
      new Map([
        ['alone', 'running'],
        ['of the template: a/b', 'running'],
      ]),
    )
  })

  it('shows a change before it is made, with the state that running tasks would lose, and then makes it', async () => {
    await rules('pull')
    await host.client.broker.posting.events('boiler-2', { t: 95 })
    edit('tasks/alone.json', lower)
    const dry = await rules('push', ['--dry-run'])
    expect(dry).toMatchObject({ code: 0 })
    expect(dry.stdout).toContain('~ tasks/alone\n    /sensors/0/properties/threshold: 90 -> 80')
    expect(dry.stdout).toContain('hot loses state')
    expect((await rules('diff')).code).toBe(2)
    expect((await rules('push')).code).toBe(0)
    const { values } = await host.client.rules.tasks.list({ where: { name: 'alone' }, hits: 1, startIndex: 0 })
    const conf = await host.client.rules.tasks.conf(values[0]?.ID ?? '', 'simplified')
    expect(conf).toMatchObject({ sensors: [{ properties: { threshold: 80 } }] })
  })

  it('rejects a push while the host differs from what was pulled, and changes nothing then', async () => {
    await rules('pull')
    edit('templates/hot.json', lower)
    edit('types/boiler.json', (text) => text.replace('Boiler', 'Kettle'))
    await host.client.rules.templates.replace('hot', { ...template, description: 'changed here' } as never)
    const { code, stdout } = await rules('push')
    expect(code).toBe(1)
    expect(stdout).toContain('! templates/hot: changed on the host since the last pull')
    expect(stdout).toContain('    /description: "changed here" goes\n')
    expect(stdout).toContain('    /sensors/0/properties/threshold: 90 -> 80\n')
    expect((await host.client.resources.types.get('boiler')).value).toMatchObject({ name: 'Boiler' })
    expect((await rules('pull')).code).toBe(1)
    expect((await rules('push', ['--force'])).code).toBe(0)
    expect(await host.client.rules.templates.get('hot', 'simplified')).toMatchObject({
      sensors: [{ properties: { threshold: 80 } }],
    })
  })

  it('overwrites nothing that changes on the host while it is pushed', async () => {
    await rules('pull')
    edit('templates/hot.json', lower)
    const { templates } = host.client.rules
    const folderOf = new RulesFolder(folder)
    const { entries } = await compare(host.client, folderOf)
    await templates.replace('hot', { ...template, description: 'changed meanwhile' } as never)
    const entry = entries.find(({ id }) => id === 'hot')
    if (entry?.file === undefined) throw new Error('the template has no file')
    await expect(entry.kind.replace(host.client, 'hot', entry.file.document)).rejects.toMatchObject({
      code: 'PRECONDITION',
    })
    expect(await templates.get('hot')).toMatchObject({ description: 'changed meanwhile' })
  })

  it('takes changes of the host into files, but keeps those that were made here', async () => {
    await rules('pull')
    edit('types/boiler.json', (text) => text.replace('Boiler', 'Kettle'))
    await host.client.rules.templates.replace('hot', { ...template, description: 'changed here' } as never)
    await host.client.converter.remove('raw')
    const { stdout } = await rules('pull')
    expect(stdout.split('\n').toSorted()).toEqual(['', '- converters/raw', '2 changed, 3 equal', '~ templates/hot'])
    expect(readFileSync(join(folder, 'types/boiler.json'), 'utf8')).toContain('Kettle')
    expect(readFileSync(join(folder, 'templates/hot.json'), 'utf8')).toContain('changed here')
  })

  it('deletes what the folder lacks only with --prune', async () => {
    await rules('pull')
    rmSync(join(folder, 'queries/heat.json'))
    expect((await rules('push')).stdout).toContain('? queries/heat: only on the host; --prune deletes it')
    expect((await rules('push', ['--prune'])).stdout).toBe('- queries/heat\n1 changed, 5 equal\n')
    expect((await host.client.queries.stored.search({ q: '' })).queries).toEqual([])
  })

  it('reports what a host rejects, and brings the rest', async () => {
    await rules('pull')
    edit('tasks/alone.json', (text) => text.replace('streamingDataSensor', 'streamingSensor'))
    edit('types/boiler.json', (text) => text.replace('Boiler', 'Kettle'))
    const { code, stdout } = await rules('push')
    expect(code).toBe(1)
    expect(stdout).toMatch(/x tasks\/alone: .*streamingSensor/)
    expect((await host.client.resources.types.get('boiler')).value).toMatchObject({ name: 'Kettle' })
  })

  it('keeps constraints, sources and sinks, and leaves out their state', async () => {
    const connection = { url: 'mqtt://127.0.0.1:1' }
    const { id } = await host.client.resources.constraints.create({ name: 'limits', attributes: [] })
    await host.client.resources.types.create({ id: 'pump', $constraints: [id] })
    await host.client.connectors.sources.put('plant', { type: 'mqtt', connection, topics: ['a'], paused: true })
    const select = { items: 'alarms' }
    await host.client.connectors.sinks.put('out', { type: 'mqtt', connection, topic: 'b', select, paused: true })
    await rules('pull')
    expect(JSON.parse(readFileSync(join(folder, 'sources/plant.json'), 'utf8'))).toEqual({
      name: 'plant',
      type: 'mqtt',
      connection,
      topics: ['a'],
      paused: true,
    })
    const other = await newHost()
    expect(await rules('push', [], other)).toMatchObject({ code: 0, stderr: '' })
    expect((await rules('push', [], other)).stdout).toBe('0 changed, 10 equal\n')
    const { value: pump } = await other.client.resources.types.get('pump')
    expect(pump['$constraints']).toMatchObject([{ status: 'ineffect' }])
    expect(await other.client.connectors.sinks.get('out')).toMatchObject({ topic: 'b', status: { state: 'paused' } })
  })

  it('keeps the rules of a host that serves nothing else', async () => {
    const alone = await listeningHost({ only: 'rules' })
    hosts.push(alone)
    await alone.client.rules.templates.create(template as never)
    const outcome = await rules('pull', [], alone)
    expect(outcome).toMatchObject({ code: 0, stdout: '+ templates/hot\n1 changed, 0 equal\n', stderr: '' })
  })

  it('reads and keeps YAML', async () => {
    await rules('pull', ['--yaml'])
    edit('templates/hot.yaml', (text) => text.replace('threshold: 90', 'threshold: 80'))
    expect((await rules('push')).stdout).toBe('~ templates/hot\n1 changed, 5 equal\n')
    expect((await rules('diff')).stdout).toBe('0 differ, 6 equal\n')
  })

  it('reports the problems of all files at once, before it connects to anything', async () => {
    await rules('pull')
    writeFileSync(join(folder, 'templates/broken.json'), '{ "name": ')
    writeFileSync(join(folder, 'templates/twin.json'), JSON.stringify(template))
    writeFileSync(join(folder, 'types/nameless.json'), '{}')
    const { code, stderr } = await rules('push')
    expect(code).toBe(1)
    expect(stderr).toContain('broken.json: ')
    expect(stderr).toContain('twin.json: name "hot" is also in')
    expect(stderr).toContain('nameless.json: /id <- is required')
  })
})
