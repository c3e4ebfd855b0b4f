/** Which addresses are not the public internet. */

/** Address blocks that are not the public internet (IANA special-purpose registries), as [prefix, bits]. */
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

/** True for an IP address that belongs to the public internet; false for private ones and for what is no address. */
export function isPublicAddress(address: string): boolean {
  const v4 = readV4(address)
  if (v4 !== undefined) return isPublicV4(v4)
  const groups = readV6(address)
  return groups !== undefined && isPublicV6(groups)
}

/** True for text that is an IP address, with or without the brackets of URLs. */
export function isAddress(text: string): boolean {
  return readV4(text) !== undefined || readV6(text) !== undefined
}

function isPublicV4(value: number): boolean {
  return !PRIVATE_V4.some(([prefix, bits]) => value >>> (32 - bits) === (readV4(prefix) ?? 0) >>> (32 - bits))
}

function isPublicV6(groups: readonly number[]): boolean {
  const [first = 0, second = 0] = groups
  // only 2000::/3 is given out; in it some blocks carry IPv4 addresses, or are for documents and tests
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
