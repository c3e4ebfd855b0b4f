/** Tests `reflexarc functions`: from an empty folder to a running plug, and the output of each command. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtCode } from '../support/built-code.ts'
import { listeningHost, type ListeningHost } from '../host/listening-host.ts'
import { Workspace } from './run-cli.ts'
import { Served } from './served.ts'

let host: ListeningHost
const place = new Workspace({})
beforeAll(async () => {
  host = await listeningHost()
})
afterAll(async () => {
  place[Symbol.dispose]()
  await host.stop()
})

const functions = (...args: readonly string[]) =>
  place.cli(['functions', ...args], {
    env: { REFLEXARC_URL: host.url, REFLEXARC_API_KEY: 'k', REFLEXARC_API_SECRET: 'a-secret' },
  })
const change = (path: string, from: string, to: string): void => {
  const file = join(place.path, path)
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(from, to))
}

describe('reflexarc functions', () => {
  it('goes from nothing to a plug that runs, and shows its way', async () => {
    expect(await functions('init', 'too-cold')).toMatchObject({
      code: 0,
      stdout: `tooCold is in too-cold: plug.json, package.json, index.js
reflexarc functions test too-cold --properties '{"value":30}'
reflexarc functions deploy too-cold
`,
    })
    expect(readFileSync(join(place.path, 'too-cold/package.json'), 'utf8')).toContain('"name": "too-cold"')

    const tested = await functions('test', 'too-cold', '--properties', '{"value": 30}', '--json')
    expect(tested).toMatchObject({ code: 0, stderr: expect.stringContaining('debug  30 against 25\n') as unknown })
    expect(JSON.parse(tested.stdout)).toMatchObject({ result: true, state: 'Warm', rawData: { above: 5 } })

    const deployed = await functions('deploy', 'too-cold')
    expect(deployed).toMatchObject({ code: 0, stdout: 'tooCold@1.0.0 is running\n' })
    expect(deployed.stderr).toMatch(
      /^build {2}done in \d+\.\d s\n {7}it has no dependencies\ndeploy done in \d+\.\d s\nverify done in \d+\.\d s\n$/,
    )
    const listed = await functions('list')
    expect(listed.stdout).toMatch(
      /^type +name +version +status +runtime +changed\nplug +tooCold +1\.0\.0 +running +plug-node24 /,
    )
    const logs = await functions('logs', 'too-cold')
    expect(logs).toMatchObject({
      code: 0,
      stderr: 'tooCold@1.0.0 has not logged anything since the start of the host\n',
    })

    const again = await functions('deploy', 'too-cold')
    expect(again).toMatchObject({ code: 1, stderr: "error: 'tooCold@1.0.0' already exists; raise its version\n" })
  })

  it('changes a draft until it is published, and says why a version does not run', async () => {
    await functions('init', 'drafted', '--runtime', 'plug-python3', '--name', 'pythonic')
    change('drafted/main.py', 'def execute', 'def run')
    const broken = await functions('deploy', 'drafted', '--draft', '--json')
    expect(broken.code).toBe(1)
    expect(JSON.parse(broken.stdout)).toMatchObject({ name: 'pythonic', status: 'unhealthy', draft: true })
    expect(broken.stderr).toContain('pythonic@1.0.0 is unhealthy: it did not start: TypeError: main.py has no function')

    change('drafted/main.py', 'def run', 'def execute')
    const mended = await functions('deploy', 'drafted', '--publish')
    expect(mended).toMatchObject({ code: 0, stdout: 'pythonic@1.0.0 is running\n' })
    const listed = await functions('list', 'drafted', '--json')
    expect(JSON.parse(listed.stdout)).toMatchObject({ draft: false, status: 'running', plug: { name: 'pythonic' } })
    expect((await functions('logs', 'pythonic@9.9.9')).stderr).toBe("error: No plug 'pythonic@9.9.9'\n")
    expect((await functions('list', 'nothing')).stderr).toBe('error: the host has no function nothing\n')
  })

  it.each([
    ['init .', '. already contains files'],
    ['init x --runtime plug-cobol', '--runtime: "plug-cobol" is not a runtime; use one of plug-node24, plug-python3'],
    ['init 1-2', 'plug.json'],
    ['deploy nowhere', 'nowhere: cannot be read'],
    ['deploy nowhere --url boiler', '"boiler" is not the URL of a host'],
    ['deploy too-cold --url http://127.0.0.1:1', '--url: no host responds at http://127.0.0.1:1'],
    ['list --secret wrong', 'The API key or its secret is wrong'],
    ['test too-cold --properties [1]', '--properties: [1] is not a JSON object'],
    ['test too-cold --functions open', '--functions: "open" cannot be used'],
  ])('%s is rejected with a correction', async (args, message) => {
    const { code, stdout, stderr } = await functions(...args.split(' '))
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(message)
  })

  it('returns secrets that it never shows, and lends those of the environment to a function that is tried', async () => {
    writeFileSync(join(place.path, 'token.txt'), 'sesame-7411\n')
    expect((await functions('secrets', 'list')).stdout).toBe('no secrets\n')
    expect((await functions('secrets', 'put', 'TOKEN', 'token.txt')).stdout).toBe('TOKEN is there\n')
    expect((await functions('secrets', 'put', 'TOKEN', 'token.txt')).stdout).toBe('TOKEN was changed\n')
    expect((await host.client.vault.list()).map(({ name }) => name)).toEqual(['TOKEN'])
    expect((await functions('secrets', 'list')).stdout).toMatch(/^name +given +by\nTOKEN +\d{4}-\S+ +k\n$/)
    expect((await functions('secrets', 'delete', 'TOKEN')).stdout).toBe('TOKEN was removed\n')
    expect((await functions('secrets', 'delete', 'TOKEN')).stderr).toBe("error: No secret 'TOKEN'\n")
    expect((await functions('secrets', 'put', 'TOKEN', 'nowhere')).stderr).toContain('cannot be read')

    await functions('init', 'lent')
    change('lent/plug.json', '"type"', '"deploy": { "secrets": ["TOKEN"] }, "type"')
    change('lent/index.js', 'above: value - limit', 'above: process.env.TOKEN.length')
    const call = ['functions', 'test', 'lent', '--properties', '{"value": 30}', '--json']
    const tried = await place.cli(call, { env: { TOKEN: 'sesame-7411' } })
    expect(JSON.parse(tried.stdout)).toMatchObject({ rawData: { above: 11 } })
    const without = await place.cli(call)
    expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('the secret "TOKEN"') as unknown })
  })

  it('writes a model, tries it here, and deploys it', async () => {
    const made = await functions('init', 'worn', '--runtime', 'byoml-xgboost')
    expect(made.stdout).toContain("reflexarc functions test worn --body '[[10, 3]]'")
    expect((await functions('init', 'none', '--runtime', 'byoml-sklearn')).stderr).toContain('use one of plug-node24')
    expect((await functions('test', 'worn', '--body', '[[10, 3]]')).stdout).toBe('{"predictions":[9]}\n')
    expect((await functions('deploy', 'worn')).stdout).toBe('worn@1.0.0 is running\n')
    expect(await host.client.models.predict('worn', { instances: [[10, 3]] })).toEqual({ predictions: [9] })
  })

  it('wants credentials', async () => {
    const { code, stderr } = await place.cli(['functions', 'list', '--key', 'k'])
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('set both') as unknown })
  })
})

describe('reflexarc functions, for webscripts', () => {
  it('writes one, calls it here, deploys it, and says how it is called', async () => {
    const made = await functions('init', 'hello', '--runtime', 'web-node24')
    expect(made.stdout).toContain("reflexarc functions test hello --path '/'")
    const tested = await functions('test', 'hello', '--path', '/any?name=you')
    expect(tested).toMatchObject({
      code: 0,
      stdout: '200 application/json; charset=utf-8\n{"hello":"you"}\n',
      stderr: expect.stringContaining('info   GET /any for you\n') as unknown,
    })
    const deployed = await functions('deploy', 'hello')
    expect(deployed.stdout).toBe('hello@1.0.0 is running\n')
    const [, secret = '', url = ''] =
      /curl -H 'authorization: (hmac-sha256 [^']+)' (\S+)\n$/.exec(deployed.stderr) ?? []
    const answer = await fetch(`${url}?name=me`, { headers: { authorization: secret } })
    expect(await answer.json()).toEqual({ hello: 'me' })
    expect((await functions('logs', 'hello')).stdout).toMatch(/info {2}GET \/ for me\n$/)

    const credentials = ['--url', host.url, '--key', host.credentials.key, '--secret', host.credentials.secret]
    const command = [process.execPath, builtCode('cli.js')] as const
    await using logs = new Served(place.path, ['functions', 'logs', 'hello', '--follow', ...credentials], {}, [
      ...command,
    ])
    await expect.poll(() => logs.stdout).toMatch(/ info {2}response 200 after \d+ ms \(14 bytes\)\n/)
    await fetch(`${url}?name=nobody`, { headers: { authorization: secret } })
    await expect.poll(() => logs.stdout).toMatch(/ info {2}console {2}GET \/ for nobody\n/)
    expect(await logs.end('SIGINT')).toBe(0)
    expect((await functions('logs', 'too-cold', '--follow')).stderr).toContain('tooCold is not a webscript')
  })

  it('serves one, and again when its files change', async () => {
    await functions('init', 'devved', '--runtime', 'web-node24')
    const [program, cli] = [process.execPath, builtCode('cli.js')] as const
    const args = ['functions', 'dev', 'devved', '--port', '0']
    await using dev = new Served(place.path, args, {}, [program, cli])
    await expect.poll(() => dev.stdout).toContain('devved is at ')
    const url = /devved is at (\S+)\n/.exec(dev.stdout)?.[1] ?? ''
    const said = async () => ((await (await fetch(`${url}?name=x`)).json()) as { readonly hello?: string }).hello
    expect(await said()).toBe('x')
    change('devved/index.js', 'hello: name', 'hello: `${name} again`')
    await expect.poll(said).toBe('x again')
    expect(dev.stderr).toContain('info   GET / for x\n')
    expect(await dev.end('SIGINT')).toBe(0)
  })
})
