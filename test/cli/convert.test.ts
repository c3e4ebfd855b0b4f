import { describe, expect, it } from 'vitest'
import { Workspace } from './run-cli.ts'

const PAYLOAD = '{ "device": "boiler-1", "t": 93 }'
const GOOD = '{"metrics":[{"resource":"$payload.device","temperature":$payload.t}]}'

async function convert(template: string, ...args: readonly string[]) {
  using workspace = new Workspace({ 'gw.vm': template, 'up.json': PAYLOAD })
  return await workspace.cli(['convert', 'gw.vm', '--payload', 'up.json', ...args])
}

describe('convert', () => {
  it('prints the messages that a template makes', async () => {
    const { code, stdout, stderr } = await convert(GOOD)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toEqual({ metrics: [{ resource: 'boiler-1', temperature: 93 }] })
  })

  it('prints the rendered text as it is with --text', async () => {
    expect(await convert('$payload.t \n $payload.gone\n', '--text')).toEqual({
      code: 0,
      stdout: '93 \n $payload.gone\n',
      stderr: '',
    })
  })

  it('reports the place in the template, with the lines around it', async () => {
    const { code, stdout, stderr } = await convert('{\n#if($payload.t > \n}')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(
      'gw.vm: found "}" where a value should be (line 3, column 1)\n1 | {\n2 | #if($payload.t > \n3 | }\n  | ^\n',
    )
  })

  it('reports the place in the text when that is not JSON', async () => {
    const { code, stderr } = await convert('{"metrics":[\n  {"resource":"a","t":1},\n]}')
    expect(code).toBe(1)
    expect(stderr).toContain('line 2, column 25 of the rendered text: unexpected comma before the closing ]')
  })

  it('warns of texts that should be numbers', async () => {
    const { code, stderr } = await convert(GOOD.replace('$payload.t}', '"$payload.t"}'))
    expect(code).toBe(0)
    expect(stderr).toContain('WARNING /metrics/0/temperature is the text "93" instead of a number')
  })

  it('follows 2.4 when it is asked to, and names the parts of a topic', async () => {
    const template = '{"metrics":[{"resource":"$topic[0]","a":"$payload.device-x"}]}'
    const { stdout } = await convert(template, '--compat', '2.4', '--topic', 'gw-7')
    expect(JSON.parse(stdout)).toEqual({ metrics: [{ resource: 'gw-7', a: 'boiler-1-x' }] })
  })
})
