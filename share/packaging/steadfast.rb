class Steadfast < Formula
  desc "Finds the files that changed without you, and mends them"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    url "@REPOSITORY@/releases/download/v@VERSION@/steadfast-@VERSION@-universal2-apple-darwin.zip"
    sha256 "@SHA256:steadfast-@VERSION@-universal2-apple-darwin.zip@"
  end

  on_linux do
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/steadfast-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256:steadfast-@VERSION@-x86_64-unknown-linux-musl.tar.gz@"
    end
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/steadfast-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256:steadfast-@VERSION@-aarch64-unknown-linux-musl.tar.gz@"
    end
  end

  def install
    bin.install "bin/steadfast"
    man1.install Dir["share/man/man1/*"]
    man5.install Dir["share/man/man5/*"]
    bash_completion.install "share/bash-completion/completions/steadfast"
    zsh_completion.install "share/zsh/site-functions/_steadfast"
    fish_completion.install "share/fish/vendor_completions.d/steadfast.fish"
    prefix.install "THIRD-PARTY.txt"
    prefix.install Dir["Services"] if OS.mac?
  end

  test do
    (testpath/"file").write "contents"
    system bin/"steadfast", "tag", testpath/"file"
    system bin/"steadfast", "check", testpath/"file"
  end
end
