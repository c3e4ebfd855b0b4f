/** Determines the hosts of package registries: those in the operator's settings, or the public ones. */
import { originOf } from '#platform/sandbox'

export interface ToolSettings {
  readonly npmrc: string
  readonly pipConf: string
}

const NPM = 'https://registry.npmjs.org'
const PYPI = ['https://pypi.org', 'https://files.pythonhosted.org']
const NPM_REGISTRY = /^[ \t]*((?:@[^:=\s]+:)?registry)[ \t]*=[ \t]*"?([^\s"]+)/gm
const ADDRESS = /https?:\/\/[^\s'",]+/g
const PROXY_LINE = /^[ \t]*(?:https[-_])?proxy[ \t]*=[ \t]*"?([^\s"]+)/m

export function registryHosts(
  tool: 'npm' | 'pip',
  { npmrc, pipConf }: ToolSettings,
  more: readonly string[],
): ReadonlySet<string> {
  const named = tool === 'npm' ? npmRegistries(npmrc) : pipIndexes(pipConf)
  const origins = named.flatMap((address) => (URL.canParse(address) ? [originOf(new URL(address))] : []))
  return new Set([...origins, ...more.map((one) => (/:\d+$/.test(one) ? one : `${one}:443`).toLowerCase())])
}

function npmRegistries(npmrc: string): readonly string[] {
  const found = [...npmrc.matchAll(NPM_REGISTRY)].map(([, key = '', address = '']) => [key, address] as const)
  const addresses = found.map(([, address]) => address)
  return found.some(([key]) => key === 'registry') ? addresses : [NPM, ...addresses]
}

function pipIndexes(pipConf: string): readonly string[] {
  const lines = pipConf.split('\n').filter((line) => !PROXY_LINE.test(line))
  const addresses = [...lines.join('\n').matchAll(ADDRESS)].map(([address]) => address)
  const hasIndex = lines.some((line) => /^[ \t]*index[-_]url[ \t]*=/.test(line))
  const isPublic =
    !hasIndex || addresses.some((address) => URL.canParse(address) && new URL(address).host === 'pypi.org')
  return isPublic ? [...PYPI, ...addresses] : addresses
}

export function upstreamOf(
  tool: 'npm' | 'pip',
  { npmrc, pipConf }: ToolSettings,
  environment: Readonly<Record<string, string | undefined>>,
): (host: string) => URL | undefined {
  const { HTTPS_PROXY, https_proxy: lower, NO_PROXY, no_proxy: lowerNo } = environment
  const configured = PROXY_LINE.exec(tool === 'npm' ? npmrc : pipConf)?.[1]
  const text = [configured, HTTPS_PROXY, lower].find((one) => one !== undefined && one !== '') ?? ''
  const proxy = URL.canParse(text) ? new URL(text) : undefined
  const without = (NO_PROXY ?? lowerNo ?? '').split(',').map((one) => one.trim().replace(/^\*?\./, ''))
  const isWithout = (host: string): boolean =>
    without.some((one) => one === '*' || (one !== '' && (host === one || host.endsWith(`.${one}`))))
  return (host) => (isWithout(host) ? undefined : proxy)
}
