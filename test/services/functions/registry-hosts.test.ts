/** Tests which hosts npm and pip must reach, according to the operator's settings. */
import { describe, expect, it } from 'vitest'
import { registryHosts, upstreamOf } from '../../../src/services/functions/install.ts'

const NONE = { npmrc: '', pipConf: '' }

it.each<[string, 'npm' | 'pip', Partial<typeof NONE>, readonly string[]]>([
  ['npm without settings', 'npm', {}, ['registry.npmjs.org:443']],
  ['npm with its own registry', 'npm', { npmrc: 'registry=http://10.0.0.7:4873/\n' }, ['10.0.0.7:4873']],
  [
    'npm with one for a scope',
    'npm',
    { npmrc: 'fund=false\n@acme:registry = "https://npm.acme.example/r/"\n//npm.acme.example/:_authToken=x\n' },
    ['registry.npmjs.org:443', 'npm.acme.example:443'],
  ],
  ['npm with a malformed registry', 'npm', { npmrc: 'registry=${REGISTRY}\n' }, []],
  ['npm, whatever pip asks', 'npm', { pipConf: 'index-url = https://pip.acme.example/\n' }, ['registry.npmjs.org:443']],
  ['pip without settings', 'pip', {}, ['pypi.org:443', 'files.pythonhosted.org:443']],
  [
    'pip with its own index',
    'pip',
    { pipConf: '[global]\nindex-url = https://u:p@pip.acme.example:8443/simple/\n' },
    ['pip.acme.example:8443'],
  ],
  [
    'pip with others beside the public one',
    'pip',
    { pipConf: '[global]\nextra-index-url =\n    https://one.example/simple\n    https://two.example/simple\n' },
    ['pypi.org:443', 'files.pythonhosted.org:443', 'one.example:443', 'two.example:443'],
  ],
  [
    'pip with a proxy, which is not an index',
    'pip',
    { pipConf: '[global]\nproxy = http://proxy.acme.example:3128\n' },
    ['pypi.org:443', 'files.pythonhosted.org:443'],
  ],
])('%s', (_title, tool, settings, hosts) => {
  expect([...registryHosts(tool, { ...NONE, ...settings }, [])]).toEqual(hosts)
})

it('and further hosts of the operator', () => {
  const more = ['Files.acme.example', 'files.acme.example:8443']
  expect([...registryHosts('npm', NONE, more)]).toEqual([
    'registry.npmjs.org:443',
    'files.acme.example:443',
    'files.acme.example:8443',
  ])
})

describe("the operator's own proxy", () => {
  const environment = { HTTPS_PROXY: 'http://proxy.acme.example:3128', NO_PROXY: 'intranet, .corp.example' }
  const hostOf = (settings: Partial<typeof NONE>, host: string) =>
    upstreamOf('npm', { ...NONE, ...settings }, environment)(host)?.host

  it.each<[string, string, string | undefined]>([
    ['is for any host', 'registry.npmjs.org', 'proxy.acme.example:3128'],
    ['is not for one that is named', 'intranet', undefined],
    ['is not for one below a domain', 'npm.corp.example', undefined],
    ['is for one that only ends alike', 'notintranet', 'proxy.acme.example:3128'],
  ])('%s', (_title, host, proxy) => {
    expect(hostOf({}, host)).toBe(proxy)
  })

  it('is that of the settings of the tool before that of the environment', () => {
    expect(hostOf({ npmrc: 'https-proxy=http://other.example:8080\n' }, 'registry.npmjs.org')).toBe(
      'other.example:8080',
    )
    expect(upstreamOf('pip', NONE, {})('pypi.org')).toBeUndefined()
  })
})
