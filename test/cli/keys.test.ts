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

    expect(await place.cli(['keys', 'remove', pair.key])).toMatchObject({
      code: 0,
      stdout: `${pair.key} was removed\n`,
    })
    expect(await place.cli(['keys', 'remove', pair.key])).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: unknown key "${pair.key}"; "reflexarc keys list" prints all keys\n`,
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
    expect(stderr).toMatch(
      /^error: a host uses the data folder \S+; set its address, such as --url \S+, or stop it first\n$/,
    )
  })

  it('says all that is wrong at once, and makes no store', async () => {
    using empty = new Workspace({})
    const { code, stderr } = await empty.cli(['keys', 'add', '--tenant', '_host'])
    expect(code).toBe(1)
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^error: --data: \S+ does not contain data of a host; /),
      expect.stringMatching(/^error: --tenant: "_host" is not a valid tenant name/),
    ])
    expect(readdirSync(empty.path)).toEqual([])
  })

  it('lists, adds, rotates and removes keys while the host runs, by the data folder alone', async () => {
    await using host = new Served(place.path, [])
    const { url } = await host.ready()
    const cli = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await place.cli(['keys', ...args, '--url', url, '--json'])
      expect([code, stderr]).toEqual([0, ''])
      return JSON.parse(stdout) as { key: string; secret: string }
    }
    const pair = await cli('add', '--name', 'reports', '--scope', 'read', '--expires', '90d')
    expect(await statusOf(url, pair)).toBe(200)
    const [listed] = ((await cli('list')) as unknown as readonly { key: string }[]).filter(
      ({ key }) => key === pair.key,
    )
    expect(listed).toMatchObject({ name: 'reports', scopes: ['read'] })
    const rotated = await cli('rotate', pair.key, '--grace', '10m')
    expect([await statusOf(url, pair), await statusOf(url, rotated)]).toEqual([200, 200])
    await cli('remove', pair.key)
    expect([await statusOf(url, pair), await statusOf(url, rotated)]).toEqual([401, 401])
    expect(await place.cli(['keys', 'remove', pair.key, '--url', url])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: unknown key /) as unknown,
    })
    const device = await cli('add', '--scope', 'device', '--prefix', 'boiler-')
    expect(await statusOf(url, device)).toBe(403)
    expect(await place.cli(['keys', 'add', '--scope', 'read', '--prefix', 'boiler-', '--url', url])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/resources <- requires a key whose only scope is device') as unknown,
    })
  })

  it('makes keys with scopes while the host is stopped', async () => {
    const { stdout } = await place.cli(['keys', 'add', '--scope', 'read', '--name', 'offline', '--json'])
    const pair = JSON.parse(stdout) as { key: string; secret: string }
    expect((await place.cli(['keys', 'list'])).stdout).toMatch(new RegExp(`^${pair.key} .* read +offline$`, 'm'))
  })
})

describe('reflexarc login', () => {
  it('prints an address that signs a browser in once, as serve does when it starts', async () => {
    await using host = new Served(place.path, [])
    const { url } = await host.ready()
    expect(host.stdout).toContain(`lost the secret? create another key: reflexarc keys add --scope admin --data `)
    const atStart = /^log in \(this link works once, for 15 minutes\): (\S+)$/m.exec(host.stdout)?.[1] ?? ''
    const { code, stdout } = await place.cli(['login', '--url', url])
    expect(code).toBe(0)
    for (const address of [atStart, stdout.trim()]) {
      const [, link = ''] = /\/console#link=(\S+)$/.exec(address) ?? []
      const open = () =>
        fetch(`${url}/auth/v1/session`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ link }),
        })
      expect([address.startsWith(url), (await open()).status, (await open()).status]).toEqual([true, 201, 401])
    }
  })
})
