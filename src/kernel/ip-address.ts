/** Classifies IP addresses as public, private, inside a network, or cloud metadata. */

/** Blocks outside the public internet (IANA special-purpose registries), as [prefix, bits]. */
const PRIVATE_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]

/** True for addresses of the public internet; false for private and for malformed addresses. */
export function isPublicAddress(address: string): boolean {
  const v4 = readV4(address)
  if (v4 !== undefined) return isPublicV4(v4)
  const groups = readV6(address)
  return groups !== undefined && isPublicV6(groups)
}

export interface Network {
  /** 4 or 16 bytes */
  readonly address: readonly number[]
  /** prefix length */
  readonly bits: number
  readonly text: string
}

/** Parses a network such as `10.0.0.0/8` or `fd12::1`; undefined when malformed. */
export function readNetwork(text: string): Network | undefined {
  const [, written = '', digits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const groups = readV6(written)
  const address = bytesOf(written)
  if (address === undefined) return undefined
  // in ::ffff:10.0.0.0/104 the prefix length counts the 96 leading IPv6 bits
  const shift = groups !== undefined && address.length === 4 ? 96 : 0
  const bits = digits === undefined ? address.length * 8 : Number(digits) - shift
  return bits >= 0 && bits <= address.length * 8 ? { address, bits, text: written } : undefined
}

export function inNetwork(address: string, network: Network): boolean {
  const bytes = bytesOf(address)
  if (bytes === undefined || bytes.length !== network.address.length) return false
  return bytes.every((byte, index) => {
    const shift = 8 - Math.min(8, Math.max(0, network.bits - index * 8))
    return byte >> shift === (network.address[index] ?? 0) >> shift
  })
}

/** Networks with cloud metadata services: link-local addresses, and addresses specific to some clouds. */
const METADATA = [
  '169.254.0.0/16',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fe80::/10',
  'fd00:ec2::/32',
  'fd20:ce::/32',
  'fd00:42::42',
].flatMap((text) => readNetwork(text) ?? [])

/** True for the address of a cloud metadata service, including one reached through translation or a tunnel. */
export function isMetadataAddress(address: string): boolean {
  const groups = readV6(address)
  const carried = groups === undefined ? undefined : carriedV4(groups)
  return METADATA.some((network) => inNetwork(address, network) || (carried && inNetwork(carried, network)))
}

function carriedV4(groups: readonly number[]): string | undefined {
  const [first, second = 0, third = 0] = groups
  const [high = 0, low = 0] = first === 0x2002 ? [second, third] : groups.slice(6)
  const isCarried =
    first === 0x2002 || (first === 0x64 && second === 0xff9b) || groups.slice(0, 5).every((group) => group === 0)
  return isCarried ? [high >> 8, high & 255, low >> 8, low & 255].join('.') : undefined
}

/** Returns the 4 or 16 bytes of an address; `::ffff:10.0.0.1` becomes 4 bytes. */
function bytesOf(text: string): readonly number[] | undefined {
  const v4 = readV4(text)
  if (v4 !== undefined) return [v4 >>> 24, (v4 >>> 16) & 255, (v4 >>> 8) & 255, v4 & 255]
  const groups = readV6(text)
  if (groups === undefined) return undefined
  const bytes = groups.flatMap((group) => [group >> 8, group & 255])
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  return isMapped ? bytes.slice(12) : bytes
}

export function isAddress(text: string): boolean {
  return readV4(text) !== undefined || readV6(text) !== undefined
}

function isPublicV4(value: number): boolean {
  return !PRIVATE_V4.some(([prefix, bits]) => value >>> (32 - bits) === (readV4(prefix) ?? 0) >>> (32 - bits))
}

function isPublicV6(groups: readonly number[]): boolean {
  const [first = 0, second = 0] = groups
  // only 2000::/3 is assigned; some of its blocks carry IPv4 addresses or are reserved for documentation
  if (first >> 13 !== 1) return false
  const isTunnel = first === 0x2002 || (first === 0x2001 && second < 0x200)
  return !isTunnel && !(first === 0x2001 && second === 0xdb8) && first >> 4 !== 0x3ff
}

function readV4(text: string): number | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    return undefined
  return parts.reduce((value, part) => ((value << 8) | Number(part)) >>> 0, 0)
}

function readV6(text: string): readonly number[] | undefined {
  const bare = text.replace(/^\[/, '').replace(/\]$/, '').split('%')[0] ?? ''
  if (!bare.includes(':')) return undefined
  const halves = bare.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = halves.map(readGroups)
  if (head === undefined) return undefined
  if (halves.length === 1) return head.length === 8 ? head : undefined
  if (tail === undefined || head.length + tail.length > 7) return undefined
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail]
}

function readGroups(text: string): readonly number[] | undefined {
  if (text === '') return []
  const groups: number[] = []
  for (const part of text.split(':')) {
    const v4 = readV4(part)
    if (v4 !== undefined) groups.push(v4 >>> 16, v4 & 0xffff)
    else if (/^[\da-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16))
    else return undefined
  }
  return groups
}
