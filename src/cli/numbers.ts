/** Whole numbers with commas between thousands. */

/** `1,440`. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US')
}

/** `1 message`, `1,440 messages`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
}
