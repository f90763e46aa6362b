export function titlecase(text) {
  return text.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
}
