/** Tests the host as a separate process: what it prints, how it ends, and its errors when it cannot start. */
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Explained } from '../../src/services/rules/contract.ts'
import { readText, root } from '../support/repository.ts'
import { mustRun } from '../support/run-command.ts'
import { basic } from '../host/sample-host.ts'
import { Workspace } from './run-cli.ts'
import { Served } from './served.ts'

const statusOf = async (url: string, user: string) => {
  const [key = '', secret = ''] = user.split(':')
  return (await fetch(url, { headers: { authorization: basic(key, secret) } })).status
}

describe('reflexarc serve', () => {
  const place = new Workspace({})
  afterAll(() => place[Symbol.dispose]())

  describe('on a folder without a store', () => {
    let host: Served
    let shown: Awaited<ReturnType<Served['ready']>>
    beforeAll(async () => {
      host = new Served(place.path, [])
      shown = await host.ready()
    })
    afterAll(() => host[Symbol.asyncDispose]())

    it('prints its address and a line that works', async () => {
      const { url, user, asked } = shown
      expect(asked.startsWith(`${url}/`)).toBe(true)
      expect(await statusOf(asked, user)).toBe(200)
      expect(await statusOf(asked, `${user}x`)).toBe(401)
    })

    it('shows life: a plant that sends data, an explanation, and alarms', async () => {
      const { url, user, demo } = shown
      const [why = '', alarms = ''] = demo
      expect(demo).toHaveLength(2)
      const { text } = JSON.parse(mustRun('bash', ['-c', `${why} -s`], place.path)) as Explained
      expect(text.sentence).toMatch(/^alarm (?:has not fired|fired at .*, because hot_and_still is TRUE)\.$/)
      expect(JSON.parse(mustRun('bash', ['-c', `${alarms} -s`], place.path))).toHaveProperty('alarms')
      expect(await statusOf(`${url}/api/templates/demo-overheating`, user)).toBe(200)
    })

    it('has no plant any more after `reflexarc demo reset`', async () => {
      const { url, user } = shown
      const [key = '', secret = ''] = user.split(':')
      const reset = ['demo', 'reset', '--url', url, '--key', key, '--secret', secret]
      expect(await place.cli(reset)).toMatchObject({ code: 0, stdout: 'the demo plant was removed\n' })
      expect(await statusOf(`${url}/api/templates/demo-overheating`, user)).toBe(404)
    })

    it('opens to a token made beside it', async () => {
      const token = ['token', '--data', 'data', '--subject', 'anna', '--expires', '5m']
      const { stdout, stderr, code } = await place.cli(token)
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
      const answer = await fetch(`${shown.url}/`, { headers: { authorization: `Bearer ${stdout.trim()}` } })
      expect(answer.status).toBe(200)
    })

    it('has it for itself: another one says so in one line', async () => {
      const { code, stdout, stderr } = await place.cli(['serve', '--port', '0'])
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^error: [^\n]+ is in use by [^\n]+\n$/)
    })

    it('ends on request, and knows its keys again when it is started again', async () => {
      const { user } = shown
      expect(await host.end('SIGTERM')).toBe(0)
      expect(host.stderr).not.toContain(user.split(':')[1])
      await using second = new Served(place.path, [])
      const again = await second.ready()
      expect(again.user, 'the secret is shown once').toBe(user.split(':')[0])
      expect(again.demo, 'a store that has something gets nothing').toEqual([])
      expect(await statusOf(again.asked, user)).toBe(200)
      expect(await second.end('SIGINT')).toBe(0)
    })
  })

  it('says in one line that a newer version wrote the store, and leaves it alone', async () => {
    using older = new Workspace({})
    await using host = new Served(older.path, ['--empty'])
    await host.ready()
    await host.end('SIGTERM')
    const file = join(older.path, 'data', 'state.db')
    const database = new DatabaseSync(file)
    database.exec('PRAGMA user_version = 9999')
    database.close()
    const { code, stdout, stderr } = await older.cli(['serve', '--port', '0'])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^error: [^\n]*newer version[^\n]*\n$/)
  })

  it('leaves an empty store empty when configured so, and at every start that follows', async () => {
    using place = new Workspace({})
    const pair = { REFLEXARC_API_KEY: 'k', REFLEXARC_API_SECRET: 's' }
    for (const args of [['--empty'], []]) {
      await using host = new Served(place.path, args, pair)
      const { url, demo } = await host.ready()
      const tasks = await fetch(`${url}/api/tasks`, { headers: { authorization: basic('k', 's') } })
      expect([demo, await tasks.json()]).toEqual([[], []])
      await host.end('SIGTERM')
    }
  })

  it('takes the pair that it is given, and prints no secret', async () => {
    using place = new Workspace({})
    await using host = new Served(place.path, ['--store', 'memory:', '--empty'], {
      REFLEXARC_API_KEY: 'my-key',
      REFLEXARC_API_SECRET: 'my-secret',
    })
    const { asked, user } = await host.ready()
    expect(user).toBe('my-key')
    expect(await statusOf(asked, 'my-key:my-secret')).toBe(200)
    expect(host.stdout + host.stderr).not.toContain('my-secret')
    expect(readdirSync(place.path), 'memory leaves nothing behind').toEqual([])
  })

  it('receives the signals that `npm start` gets: no shell stands between', async () => {
    using place = new Workspace({})
    const { scripts } = JSON.parse(readText('package.json')) as { scripts: { start: string } }
    const [, command = ''] = scripts.start.split(' && ')
    const env = {
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
      REFLEXARC_DATA: join(place.path, 'data'),
    }
    await using host = new Served(root, [], env, ['sh', '-c', command])
    await host.ready()
    expect(await host.end('SIGTERM')).toBe(0)
  })
})
