/** A single character, which is no text: `charAt` gives one. */
import { JavaObject } from './value.ts'

export class JavaCharacter extends JavaObject {
  readonly kind = 'character'
  /** one UTF-16 unit */
  readonly text: string

  constructor(text: string) {
    super()
    this.text = text
  }

  textIn(): string {
    return this.text
  }

  override equalsIn(other: JavaObject): boolean {
    return other instanceof JavaCharacter && other.text === this.text
  }

  override hashIn(): number {
    return this.text.charCodeAt(0)
  }
}
