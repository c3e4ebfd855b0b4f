/** Represents a single character as returned by `charAt`, which is not a text. */
import { JavaObject } from './value.ts'

export class JavaCharacter extends JavaObject {
  readonly kind = 'character'
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
