/** Formats numbers with commas between thousands. */

export function grouped(count: number): string {
  return count.toLocaleString('en-US')
}

export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
}
