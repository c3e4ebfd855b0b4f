/** Tests keys of a data folder: created while no host runs, valid for the next host, with secrets shown once. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { basic } from '../host/sample-host.ts'
import { Workspace } from './run-cli.ts'
import { Served } from './served.ts'

/** A folder that a host has used, and the key of its first pair. */
const place = new Workspace({})
let firstKey = ''
beforeAll(async () => {
  await using host = new Served(place.path, ['--empty'])
  const { user } = await host.ready()
  await host.end('SIGTERM')
  firstKey = user.split(':')[0] ?? ''
})
afterAll(() => place[Symbol.dispose]())

async function statusOf(url: string, { key, secret }: { key: string; secret: string }): Promise<number> {
  return (await fetch(`${url}/api/tasks`, { headers: { authorization: basic(key, secret) } })).status
}

describe('reflexarc keys', () => {
  it('adds a pair for a tenant, which opens the next host until it is removed', async () => {
    const added = await place.cli(['keys', 'add', '--tenant', 'north', '--json'])
    expect(added).toMatchObject({ code: 0, stderr: '' })
    const pair = JSON.parse(added.stdout) as { key: string; secret: string; tenant: string }
    expect([Object.keys(pair).sort(), pair.tenant]).toEqual([['key', 'secret', 'tenant'], 'north'])

    const shown = await place.cli(['keys', 'list'])
    expect(shown.stdout).toContain(firstKey)
    expect(shown.stdout).toMatch(new RegExp(`^${pair.key} +north +\\d{4}-`, 'm'))
    const north = await place.cli(['keys', 'list', '--tenant', 'north', '--json'])
    expect(JSON.parse(north.stdout)).toMatchObject([{ key: pair.key, tenant: 'north' }])
    expect(shown.stdout + north.stdout).not.toContain(pair.secret)

    {
      await using host = new Served(place.path, ['--empty'])
      const { url } = await host.ready()
      expect(await statusOf(url, pair)).toBe(200)
      await host.end('SIGTERM')
    }
    const data = join(place.path, 'data')
    const files = readdirSync(data, { withFileTypes: true }).filter((one) => one.isFile())
    for (const { name } of files) expect(readFileSync(join(data, name)).includes(pair.secret), name).toBe(false)

    expect(await place.cli(['keys', 'remove', pair.key])).toMatchObject({ code: 0, stdout: `${pair.key} is removed\n` })
    expect(await place.cli(['keys', 'remove', pair.key])).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: unknown key "${pair.key}"; "reflexarc keys list" shows all\n`,
    })
    await using host = new Served(place.path, ['--empty'])
    expect(await statusOf((await host.ready()).url, pair)).toBe(401)
  })

  it('prints a new secret for people, and that it is not shown again', async () => {
    const { stdout } = await place.cli(['keys', 'add'])
    expect(stdout).toMatch(/^tenant {2}default\nkey {5}\w+\nsecret {2}\S+\nThe secret is not shown again\.\n$/)
    expect((await place.cli(['keys', 'list', '--tenant', 'nobody'])).stdout).toBe('no keys of the tenant nobody\n')
  })

  it('says that a host runs on the folder', async () => {
    await using host = new Served(place.path, ['--empty'])
    await host.ready()
    const { code, stdout, stderr } = await place.cli(['keys', 'list'])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^error: a host runs on the data folder \S+; stop it first, [^\n]+\n$/)
  })

  it('says all that is wrong at once, and makes no store', async () => {
    using empty = new Workspace({})
    const { code, stderr } = await empty.cli(['keys', 'add', '--tenant', '_host'])
    expect(code).toBe(1)
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^error: --data: no host has kept anything in \S+ yet; /),
      expect.stringMatching(/^error: --tenant: "_host" is not a valid tenant name/),
    ])
    expect(readdirSync(empty.path)).toEqual([])
  })
})
