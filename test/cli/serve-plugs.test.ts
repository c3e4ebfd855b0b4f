/** Tests a user's own plugs on a host: loaded from a folder, in several versions, and reloaded while the host runs. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { root } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { basic } from '../host/sample-host.ts'
import { Workspace } from './run-cli.ts'
import { Served } from './served.ts'

const library = pathToFileURL(join(root, 'src/index.ts')).href
const siren = (version: string, says: string) => `
import { definePlug } from '${library}'
export const siren = definePlug({ name: 'siren', version: '${version}', kind: 'actuator', execute: () => ({ message: '${says}' }) })
`
const RULE = {
  sensors: [
    { label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 't', threshold: 90 } },
  ],
  actuators: [{ label: 'alarm', name: 'siren' }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Above'] }],
}
// The first simulation starts a thread, which takes longer than the default limit on a loaded machine
const LIMIT = ['--time-limit', '600000']
const SERVE = ['--only', 'rules', '--store', 'memory:', '--empty', '--key', 'k', '--secret', 's', ...LIMIT]

class Asking {
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  async #ask(path: string, body?: object): Promise<unknown> {
    const headers = { authorization: basic('k', 's'), 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    return (await fetch(this.#url + path, { headers, ...sent })).json()
  }

  async task(resource: string): Promise<string> {
    return ((await this.#ask('/api/tasks', { ...RULE, task: { name: resource, resource } })) as { ID: string }).ID
  }

  /** Returns what the task's alarm plug answered to a value that is too high. */
  async said(task: string, resource: string): Promise<unknown> {
    await this.#ask('/api/data', { resource, data: { parameterName: 't', value: 95 } })
    const { rawData } = (await this.#ask(`/api/tasks/${task}/nodes/alarm`)) as { rawData?: { message?: string } }
    return rawData?.message
  }

  /** Returns the same from a simulation that is large enough to run in a thread. */
  async simulated(): Promise<unknown> {
    const message = { resource: 'a', timestamp: 0, t: 95, note: 'x'.repeat(20_000) }
    const asked = { rule: RULE, resource: 'a', messages: [message], executeActuators: true }
    const answer = (await this.#ask('/api/tasks/simulate', asked)) as { events?: Record<string, unknown>[] }
    if (answer.events === undefined) throw new Error(`not simulated: ${JSON.stringify(answer)}`)
    return answer.events.find(({ type, node }) => type === 'result' && node === 'alarm')?.['message']
  }

  async versions(): Promise<readonly string[]> {
    const all = (await this.#ask('/api/actions/siren/versions')) as { version: string }[]
    return all.map(({ version }) => version)
  }
}

describe('reflexarc serve --plugs', () => {
  it('runs the plugs of a folder, takes new versions at a signal, and keeps what it has when they are wrong', async () => {
    using place = new Workspace({})
    const file = (name: string, text: string) => writeFileSync(join(place.path, 'plugs', name), text)
    mkdirSync(join(place.path, 'plugs'))
    file('siren.mjs', siren('1.0.0', 'wailing'))
    file('shared.mjs', 'export const loud = 100\n')
    await using host = new Served(place.path, [...SERVE, '--plugs', 'plugs'])
    const asking = new Asking((await host.ready()).url)
    const first = await asking.task('a')
    expect(await asking.said(first, 'a')).toBe('wailing')
    expect([await asking.versions(), await asking.simulated()]).toEqual([['1.0.0'], 'wailing'])

    file('siren-2.mjs', siren('2.0.0', 'howling'))
    host.hangUp()
    await until(() => host.stderr.includes('plugs reloaded'))
    expect(await asking.versions()).toEqual(['2.0.0', '1.0.0'])
    const second = await asking.task('b')
    expect([await asking.said(second, 'b'), await asking.said(first, 'a')]).toEqual(['howling', 'wailing'])

    // The same version, but changed: tasks keep the code that they began with
    file('siren-2.mjs', siren('2.0.0', 'howling louder'))
    host.hangUp()
    await until(() => host.stderr.split('plugs reloaded').length === 3)
    const third = await asking.task('c')
    expect([await asking.said(third, 'c'), await asking.said(second, 'b')]).toEqual(['howling louder', 'howling'])
    expect(await asking.simulated()).toBe('howling louder')

    file('siren-2.mjs', siren('2.0.1', 'howling more'))
    file('siren.mjs', 'export const siren = ')
    host.hangUp()
    await until(() => host.stderr.includes('plugs could not be reloaded'))
    expect(await asking.versions()).toEqual(['2.0.0', '1.0.0'])

    file('siren.mjs', siren('1.1.0', 'wailing again'))
    host.hangUp()
    await until(() => host.stderr.split('plugs reloaded').length === 4)
    expect(await asking.versions()).toEqual(['2.0.1', '1.1.0'])
  })

  it('does not start with plugs that cannot be used, and says all that is wrong', async () => {
    using place = new Workspace({
      'none.mjs': 'export const a = 1',
      'log.mjs': siren('1.0.0', '').replace("'siren'", "'log'"),
    })
    const { code, stderr } = await place.cli(['serve', ...SERVE, '--plugs', 'none.mjs', '--plugs', 'gone'])
    expect([code, stderr.trimEnd().split('\n')]).toEqual([
      1,
      [
        'error: none.mjs: its exports (a) lack a plug; export the result of definePlug',
        'error: gone: the file does not exist; --plugs takes an ES module or a folder of such modules',
      ],
    ])
    const twice = await place.cli(['serve', ...SERVE], { env: { REFLEXARC_PLUGS: 'log.mjs' } })
    expect([twice.code, twice.stderr]).toEqual([
      1,
      'error: the actuator log 1.0.0 is registered twice; keep one or raise its version\n',
    ])
  })
})
