import { describe, expect, it } from 'vitest'
import { TENANT, World } from './support/world.ts'

// Holds MANAGED-3
describe('the upkeep of managed tasks', () => {
  it('trims the log up to its position, and misses nothing', async () => {
    const world = new World()
    await world.upkeep.start()
    for (let n = 0; n < 1200; n++) await world.write('resource', `r${n % 10}`, { n, resourceTypeId: 'a' })
    await world.upkeep.idle()
    const { first, last } = await world.storage.tenant(TENANT).log('resources').bounds()
    expect([last, first > 1000]).toEqual([1200, true])
    await world.again()
    await world.write('resourcetype', 'a', { templates: [{ templateName: 't' }] })
    await world.upkeep.idle()
    expect(world.tasks.names).toEqual(world.wanted)
    expect(world.tasks.names).toHaveLength(10)
  })

  it('reports a template that cannot be used once, for any number of resources', async () => {
    const world = new World()
    await world.upkeep.start()
    world.tasks.missingTemplates.add('t')
    await world.write('resourcetype', 'a', { templates: [{ templateName: 't' }] })
    for (let n = 0; n < 20; n++) await world.write('resource', `r${n}`, { resourceTypeId: 'a' })
    await world.upkeep.idle()
    expect(world.log).toEqual([
      'type a requires tasks of template t, which cannot be created: No template with name t; retrying',
    ])
    expect(world.upkeep.waiting).toBe(20)
    world.tasks.missingTemplates.clear()
    world.ring()
    await world.upkeep.idle()
    expect([world.tasks.kept.size, world.upkeep.waiting]).toEqual([20, 0])
  })

  it('keeps tasks when other metadata change, and creates them again when settings change', async () => {
    const world = new World()
    await world.upkeep.start()
    await world.write('resourcetype', 'a', { templates: [{ templateName: 't', frequency: 1 }] })
    await world.write('resource', 'r', { resourceTypeId: 'a' })
    await world.upkeep.idle()
    const before = [...world.tasks.kept.keys()]
    await world.write('resource', 'r', { resourceTypeId: 'a', name: 'R' })
    await world.write('resourcetype', 'a', { name: 'A', templates: [{ frequency: 1, templateName: 't' }] })
    await world.upkeep.idle()
    expect([...world.tasks.kept.keys()]).toEqual(before)
    await world.write('resourcetype', 'a', { templates: [{ templateName: 't', frequency: 2 }] })
    await world.upkeep.idle()
    expect([...world.tasks.kept.values()]).toMatchObject([{ settings: { frequency: 2 } }])
    expect([...world.tasks.kept.keys()]).not.toEqual(before)
  })

  it('abandons a task whose creation hangs, continues with the others, and retries it', async () => {
    const world = new World()
    await world.upkeep.start()
    const silent: (() => void)[] = []
    world.tasks.silentTemplates.set('t', silent)
    await world.write('resourcetype', 'a', { templates: [{ templateName: 't' }] })
    await world.write('resourcetype', 'b', { templates: [{ templateName: 'u' }] })
    await world.upkeep.idle()
    await world.write('resource', 'r', { resourceTypeId: 'a' })
    await world.write('resource', 's', { resourceTypeId: 'b' })
    await expect.poll(() => silent.length).toBe(1)
    world.tasks.silentTemplates.clear()
    world.ring()
    await world.upkeep.idle()
    expect([[...world.tasks.kept.values()].map(({ resource }) => resource), world.upkeep.waiting]).toEqual([['s'], 1])
    expect(world.log).toEqual([
      'type a requires tasks of template t, which cannot be created: managed tasks were not made within 30 s; retrying',
    ])
    world.ring()
    await world.upkeep.idle()
    expect([world.tasks.names, world.upkeep.waiting]).toEqual([world.wanted, 0])
    // the first task was created after all: of the two, one is removed
    for (const answer of silent) answer()
    await expect.poll(() => world.tasks.made).toBe(3)
    await world.upkeep.idle()
    expect(world.tasks.names).toEqual(world.wanted)
  })

  it('repeats a slice whose end could not be stored', async () => {
    const world = new World()
    await world.upkeep.start()
    await world.write('resource', 'r', { resourceTypeId: 'a' })
    await world.write('resource', 's', { resourceTypeId: 'a' })
    await world.write('resource', 'u', { resourceTypeId: 'a' })
    await world.upkeep.idle()
    world.tasks.missingTemplates.add('t')
    world.refuses = (writes) =>
      writes.some((one) => one.kind === 'put' && Number((one.value as { done?: number }).done) > 0)
    await world.write('resourcetype', 'a', { templates: [{ templateName: 't' }] })
    await world.upkeep.idle()
    world.tasks.missingTemplates.clear()
    world.refuses = () => false
    world.ring()
    await world.upkeep.idle()
    expect(world.tasks.names).toEqual(world.wanted)
    expect(world.tasks.names).toHaveLength(3)
  })
})
